import type { Rule } from './rule.ts';
import { isPlaceholder, looksRandom } from './value.ts';

/** Secrets inside addresses. */
export function addressRules(): Rule[] {
  return [
    {
      kind: 'password in address',
      hint: String.raw`:\/\/[^\s:/@]{0,100}:`,
      pattern: () => /(:\/\/[^\s:/@"'`<>]{0,100}:)([^\s/"'`<>]{1,200})(@)/g,
      // A port with something behind it that has an @ is not a password.
      isSecret: (secret) => !isPlaceholder(secret) && !/^\d{1,5}[?#,]/.test(secret),
    },
    {
      kind: 'token in address',
      hint: String.raw`https?:\/\/[\w.~-]{20,250}@`,
      pattern: () => /(\bhttps?:\/\/)([\w.~-]{20,250})(@)/gi,
      isSecret: looksRandom,
    },
    {
      kind: 'signed address',
      hint: '[?&](?:sig|x-|access_token|auth_token|api_?key|client_secret)',
      pattern: () =>
        /([?&](?:sig|signature|x-(?:amz|goog)-(?:signature|security-token)|access_token|auth_token|api_?key|client_secret)=)([\w%+/=.~-]{16,2000})()/gi,
      isSecret: (secret) => !isPlaceholder(secret) && /\d/.test(secret),
    },
  ];
}
