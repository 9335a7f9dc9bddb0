import type { StoreAddress } from '@crossgear/redis-store'
import type { Config } from '../../config/load-config.ts'
import { parseStoreUrl } from '../../config/store-address.ts'
import { StartError } from '../../errors.ts'
import { addressOfRunning } from '../../store/folder-store.ts'
import { StoreFolder } from '../../store/store-folder.ts'

/**
 * The given store, or the private or embedded one of the data dir if a gateway runs it.
 *
 * @throws StartError
 */
export async function storeAddressOf({
  redisUrl,
  dataDir,
}: Pick<Config, 'redisUrl' | 'dataDir'>): Promise<StoreAddress> {
  const given = redisUrl === undefined ? undefined : parseStoreUrl(redisUrl)
  if (given) return given
  const { folder } = await StoreFolder.find(dataDir)
  const running = folder && (await addressOfRunning(folder))
  if (running) return running
  throw new StartError(
    `No store runs in ${dataDir}: start the gateway, name its folder with --data-dir, or give the --redis-url that it prints at its start.`,
    1,
  )
}
