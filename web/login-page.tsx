import { useState } from 'preact/hooks';
import { logIn, type Refused } from './api.ts';
import { Fault } from './parts.tsx';
import { asRefused, begin } from './state.ts';

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
      <img src="/icon.svg" alt="" width="44" height="44" />
      <h1>Holdfast</h1>
      <p class="dim">
        Open the link that <code>holdfast serve</code> printed, or sign in with a token from{' '}
        <code>holdfast token add</code>.
      </p>
      <form onSubmit={submit}>
        <div class="field">
          <label for="token">Token</label>
          <input id="token" name="token" type="password" required autoComplete="current-password" placeholder="hft_…" />
        </div>
        {fault && <Fault fault={fault} />}
        <button type="submit" class="button button-main">
          Sign in
        </button>
      </form>
    </main>
  );
}
