import type { OpenDoor } from '../ops/log/banner.ts'
import type { Composition } from './compose.ts'
import type { Closers } from './running-gateway.ts'

/**
 * Opens the doors one after the other.
 *
 * @throws StartError
 */
export async function openDoors(composition: Composition, closers: Closers): Promise<OpenDoor[]> {
  const doors: OpenDoor[] = []
  for (const door of composition.doors) {
    closers.push({ what: door.name, close: () => door.close() })
    doors.push({ name: door.name, ...(await door.listen()) })
  }
  return doors
}
