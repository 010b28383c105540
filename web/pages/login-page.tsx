import { useState } from 'preact/hooks';
import { logIn, type Refused } from '../api.ts';
import { Fault } from '../parts.tsx';
import { asRefused, begin } from '../state.ts';

export function LoginPage() {
  const [fault, setFault] = useState<Refused | null>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try {
      await logIn(String(form.get('token')).trim());
      await begin();
    } catch (thrown) {
      setFault(asRefused(thrown));
    }
  };
  return (
    <main class="login" id="main">
      <img src="/icon.svg" alt="" width="48" height="48" />
      <h1>Sign in to Holdfast</h1>
      <p class="dim">
        Run <code>holdfast serve</code> and open the link it prints.
      </p>
      <form onSubmit={submit}>
        <div class="field">
          <label for="token">Or paste a token</label>
          <input id="token" name="token" type="password" required autoComplete="current-password" placeholder="hft_…" />
          <span class="dim">
            <code>holdfast token add NAME</code> makes one.
          </span>
        </div>
        {fault && <Fault fault={fault} />}
        <button type="submit" class="button button-main">
          Sign in
        </button>
      </form>
    </main>
  );
}
