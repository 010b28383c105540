/** One form of secret. Every quantifier in it is bounded, so that a rule costs a fixed amount for each character. */
export interface Rule {
  /** Named in the text instead of the secret. */
  kind: string;
  /** The source of a cheap expression that matches whatever the pattern matches; case does not count. */
  hint: string;
  /** Three groups: what stays before, the secret, what stays after. Made when the hint is met, which is seldom. */
  pattern: () => RegExp;
  /** Without it, whatever has the form is a secret. */
  isSecret?: Check | undefined;
}

/** Called with the kind of each secret that is replaced. */
export type Found = (kind: string) => void;

export type Check = (secret: string, after: string) => boolean;

/** A rule for something that is a secret as a whole, wherever it stands. */
export function whole(kind: string, hint: string, source: string, isSecret?: Check): Rule {
  return { kind, hint, pattern: () => new RegExp(`()(${source})()`, 'g'), isSecret };
}

/** Replaces what a rule finds. A value that was replaced before stays as it is. */
export function applyRule(rule: Rule, pattern: RegExp, text: string, found: Found): string {
  return text.replace(pattern, (...groups: unknown[]) => {
    const [match, before, secret, after] = groups as [string, string, string, string];
    if (secret.includes('[redacted') || (rule.isSecret && !rule.isSecret(unquoted(secret), after))) return match;
    found(rule.kind);
    return `${before}[redacted: ${rule.kind}]${after}`;
  });
}

function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) ? value.slice(1, -1) : value;
}

/** The source of an expression for a value on a command line: quoted, or one word with escapes. */
export const VALUE = String.raw`"(?:\\[^\n]|[^"\\\n]){1,200}"|'[^'\n]{1,200}'|(?:\\[^\n]|[^\s"'|;&<>()\\]){1,300}`;
