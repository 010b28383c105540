import { notice } from './state.ts';

/** Copies a text, and says so; without the permission it is shown, to be copied by hand. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notice.value = { text: `Copied: ${text}`, tone: 'good' };
  } catch {
    notice.value = { text, tone: 'plain' };
  }
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <button
      type="button"
      class="button button-quiet"
      title={text}
      data-command={text}
      onClick={() => void copyText(text)}
    >
      {label}
    </button>
  );
}

/** A word for a shell; quoted where it needs to be. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
