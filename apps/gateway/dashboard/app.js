import { render } from './lib/preact.js'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from './lib/hooks.js'
import { Api, codeOf, wordsOf } from './api.js'
import { duration } from './format.js'
import { html } from './html.js'
import { listenToKeys } from './keys.js'
import { Live } from './live.js'
import { Empty, NotShown, PageHead } from './parts/bits.js'
import { visible } from './payload-text.js'
import { Toasts, toastMs } from './parts/toasts.js'
import { KeysDialog } from './parts/keys-dialog.js'
import { pages } from './pages/all.js'
import { SignIn } from './pages/sign-in.js'
import { hrefOf, useRoute } from './router.js'
import { Side } from './side.js'
import { SharedContext, useLive } from './state.js'
import { startTheme } from './theme.js'

/** @typedef {import('./types.d.ts').Session} Session */
/** @typedef {import('./parts/toasts.js').Toast} Toast */
/** @typedef {import('./parts/toasts.js').ToastAct} ToastAct */
/** @typedef {{ readonly error: string, readonly code: string }} Trouble */

/** The session is asked for again so late after the gateway did not tell it, ms. */
const askAgainMs = 5_000

function App() {
  const [session, setSession] = useState(/** @type {Session | undefined} */ (undefined))
  const [trouble, setTrouble] = useState(/** @type {Trouble | undefined} */ (undefined))
  const [isSigningIn, setSigningIn] = useState(false)
  const [hasKeys, setKeys] = useState(false)
  const { toasts, say, dismiss } = useToasts()
  const route = useRoute()
  const api = useMemo(() => new Api(() => setSession(leftBy)), [])
  const live = useMemo(() => new Live(api), [api])
  const mayRead = session !== undefined && session.role !== null

  const learn = useCallback(async () => {
    try {
      setSession(/** @type {Session} */ (await api.get('/session')))
      setTrouble(undefined)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'unauthorized') setSession(nobody)
      else setTrouble({ error: wordsOf(error), code })
    }
    setSigningIn(false)
  }, [api])
  useEffect(() => void learn(), [learn])
  useEffect(() => {
    if (!trouble) return undefined
    const timer = setTimeout(() => void learn(), askAgainMs)
    return () => clearTimeout(timer)
  }, [trouble, learn])
  useEffect(() => {
    if (!mayRead) return undefined
    live.open()
    return () => live.close()
  }, [mayRead, session, live])
  useEffect(() => listenToKeys(() => setKeys(true)), [])

  const shared = useMemo(
    () => ({ api, live, session: session ?? nobody, say, signIn: () => setSigningIn(true) }),
    [api, live, session, say],
  )
  if (session === undefined) {
    return (
      trouble &&
      html`<${SharedContext.Provider} value=${shared}>
        <main><h1>Crossgear</h1><${NotShown} reading=${trouble} /></main>
      <//>`
    )
  }
  const isAsked = isSigningIn || !mayRead
  const onBack = mayRead ? () => setSigningIn(false) : undefined
  const signOut = async () => {
    await api.delete('/session').catch(() => undefined)
    await learn()
  }
  return html`<${SharedContext.Provider} value=${shared}>
    ${
      isAsked
        ? html`<${SignIn} onDone=${learn} onBack=${onBack} />`
        : html`<div class="shell">
          <a class="skip" href="#main" onClick=${skipToMain}>Skip to the content</a>
          <${Side} route=${route} onKeys=${() => setKeys(true)} onSignOut=${signOut} />
          <${Main} route=${route} />
        </div>`
    }
    ${hasKeys && html`<${KeysDialog} onClose=${() => setKeys(false)} />`}
    <${Toasts} toasts=${toasts} onClose=${dismiss} />
  <//>`
}

/** @param {Event} event whose default would leave the page, which is in the address */
function skipToMain(event) {
  event.preventDefault()
  document.querySelector('main')?.focus()
}

/**
 * The session of somebody who has to sign in, with what is known of the gateway.
 *
 * @param {Session | undefined} before
 */
function leftBy(before) {
  return { ...nobody, has_people: before?.has_people ?? false }
}

/** @type {Session} */
const nobody = {
  role: null,
  rights: null,
  by: 'address',
  name: null,
  queues: null,
  has_operator: true,
  has_people: false,
}

/** @param {{ route: import('./router.js').Route }} props */
function Main({ route }) {
  const main = useRef(/** @type {HTMLElement | null} */ (null))
  const place = `${route.page}/${route.id}`
  const before = useRef(place)
  // Before the page can be seen: keys that come then are for it, and not for a field that led to it.
  useLayoutEffect(() => {
    if (before.current === place) return
    before.current = place
    globalThis.scrollTo(0, 0)
    // A screen reader goes on at the new page.
    const heading = main.current?.querySelector('h1')
    ;(heading ?? main.current)?.focus()
  }, [place])
  const Page = pages.get(route.page) ?? NoPage
  const shown = hrefOf(route.page, route.id, Object.fromEntries(route.query))
  return html`<main ref=${main} id="main" tabindex="-1" data-place=${shown}>
    <${Outdated} />
    <${OtherClock} />
    <${Page} key=${place} route=${route} />
  </main>`
}

/** @param {import('./pages/all.js').PageProps} props */
function NoPage({ route }) {
  return html`<div>
    <${PageHead} title="No such page" />
    <${Empty} title=${`The dashboard has no page “${visible(route.page)}”`}>
      <p><a href=${hrefOf('overview')}>Look at the overview</a></p>
    <//>
  </div>`
}

/** A page that was left open while the gateway was upgraded. */
function Outdated() {
  const { isOutdated } = useLive()
  if (!isOutdated) return null
  return html`<p class="notice warn" role="status">
    The gateway has another version by now than when this page was opened.
    <button type="button" class="small" onClick=${() => globalThis.location.reload()}>Reload</button>
  </p>`
}

/** A computer whose clock is not the store's: its viewer would read other times from it than the page shows. */
function OtherClock() {
  const { aheadMs } = useLive()
  if (aheadMs === 0) return null
  const by = duration(Math.round(Math.abs(aheadMs) / 1000))
  return html`<p class="notice warn" role="status" data-clock>
    The clock of this computer is ${by} ${aheadMs > 0 ? 'behind' : 'ahead of'} the store's. The page shows ages and times by the store's.
  </p>`
}

function useToasts() {
  const [toasts, setToasts] = useState(/** @type {readonly Toast[]} */ ([]))
  const number = useRef(0)
  const dismiss = useCallback((/** @type {number} */ id) => {
    setToasts((all) => all.filter((toast) => toast.id !== id))
  }, [])
  const say = useCallback(
    (
      /** @type {string} */ words,
      /** @type {'good' | 'bad'} */ kind = 'good',
      /** @type {ToastAct | undefined} */ act,
    ) => {
      number.current += 1
      const id = number.current
      setToasts((all) => [...all.slice(-3), { id, words, kind, act }])
      setTimeout(() => dismiss(id), act ? toastMs.withAct : toastMs.usual)
    },
    [dismiss],
  )
  return { toasts, say, dismiss }
}

startTheme()
const place = document.getElementById('app')
if (place) render(html`<${App} />`, place)
