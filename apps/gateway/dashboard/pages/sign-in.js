import { html } from '../html.js'
import { useState } from '../lib/hooks.js'
import { Form, Trouble } from '../parts/bits.js'
import { useAct, useShared } from '../state.js'

/**
 * Asks for a name and its password, or the operator's or the reader's password.
 *
 * @param {{ onDone: () => Promise<void>, onBack?: () => void }} props
 */
export function SignIn({ onDone, onBack }) {
  const { api, session } = useShared()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { isBusy, error, run } = useAct(async () => {
    await api.post('/session', { password, ...(name !== '' && { name }) })
    await onDone()
  })
  return html`<div class="sign-in">
    <${Form} class="panel" onSubmit=${run}>
      <div class="brand"><img src="ui/icon.svg" alt="" />Crossgear</div>
      <div>
        <h1>Sign in</h1>
        <p class="muted">
          With the password of --web-password you may change things, with that of
          --web-reader-password you may look.${session.has_people && ' People give their name, too.'}
        </p>
      </div>
      ${
        session.has_people &&
        html`<label class="field">
          <span>Name</span>
          <input
            name="name"
            autocomplete="username"
            autofocus
            maxlength="64"
            value=${name}
            onInput=${(/** @type {InputEvent} */ event) =>
              setName(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
          />
        </label>`
      }
      <label class="field">
        <span>Password</span>
        <input
          type="password"
          name="password"
          autocomplete="current-password"
          autofocus=${!session.has_people}
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
