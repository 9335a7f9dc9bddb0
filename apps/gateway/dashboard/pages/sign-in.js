import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { Form, Trouble } from '../parts/bits.js'
import { useAct, useShared } from '../state.js'

/**
 * Asks for the operator's or the reader's password.
 *
 * @param {{ onDone: () => Promise<void>, onBack?: () => void }} props
 */
export function SignIn({ onDone, onBack }) {
  const { api } = useShared()
  const [password, setPassword] = useState('')
  const { isBusy, error, run } = useAct(async () => {
    await api.post('/session', { password })
    await onDone()
  })
  return html`<div class="sign-in">
    <${Form} class="panel" onSubmit=${run}>
      <div class="brand"><img src="ui/icon.svg" alt="" />Crossgear</div>
      <div>
        <h1>Sign in</h1>
        <p class="muted">
          With the password of --web-password you may change things, with that of
          --web-reader-password you may look.
        </p>
      </div>
      <label class="field">
        <span>Password</span>
        <input
          type="password"
          name="password"
          autocomplete="current-password"
          autofocus
          required
          maxlength="1024"
          value=${password}
          onInput=${(/** @type {InputEvent} */ event) =>
            setPassword(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
      </label>
      <${Trouble} error=${error} />
      <button type="submit" class="primary" disabled=${isBusy}>Sign in</button>
      ${onBack && html`<button type="button" class="quiet" onClick=${onBack}>Go on reading</button>`}
    <//>
  </div>`
}
