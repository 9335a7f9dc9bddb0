import { StartError } from '../errors.ts'
import type { OutgoingTarget } from '../doors/outgoing/poster.ts'
import { urlFault } from './outgoing-url.ts'
import { checkedText, inGroup, optional, password, yesNo } from './value-kinds.ts'

/** Notices of what happens to jobs. */
export const notifyOptions = inGroup('Jobs', {
  notifyDead: {
    ...optional(
      'url',
      checkedText(
        'an https:// URL',
        (text) => URL.canParse(text),
        () => '***',
      ),
      'nobody is told',
    ),
    help: 'URL to which the gateway posts a JSON object for each job that becomes a dead job here; tried again for two minutes, and not after a kill of the gateway',
    key: 'notify.dead',
    reloads: true,
  },
  notifySecret: {
    ...password,
    help: 'secret that signs these posts (header Crossgear-Signature)',
    key: 'notify.secret',
  },
  notifyPrivate: {
    ...yesNo,
    help: 'post them also to a private address, and by http://',
    key: 'notify.private',
    reloads: true,
  },
})

interface NotifySettings {
  readonly notifyDead: string | undefined
  readonly notifySecret: string | undefined
  readonly notifyPrivate: boolean
}

/** The server that gets notices of dead jobs; undefined: none does. */
export function notifyTarget(settings: NotifySettings): OutgoingTarget | undefined {
  const { notifyDead: url, notifySecret: secret, notifyPrivate: allowsPrivate } = settings
  return url === undefined ? undefined : { url, allowsPrivate, ...(secret && { secret }) }
}

/**
 * Checks the URL, which `flag` names.
 *
 * @throws StartError (code 2)
 */
export function checkNotify(
  { notifyDead: url, notifyPrivate }: NotifySettings,
  flag: string,
): void {
  const fault = url && urlFault(url, notifyPrivate, 'notify.private = true')
  if (fault) throw new StartError(`${flag} (notify.dead) ${fault}.`, 2)
}
