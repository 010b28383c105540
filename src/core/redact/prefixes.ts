import { type Rule, whole } from './rule.ts';
import { classesIn, isShuffledCase, looksRandom } from './value.ts';

/** Ends a form of fixed length: nothing that could belong to it follows. */
const END = String.raw`(?![\w-])`;
const hasTwoClasses = (secret: string): boolean => classesIn(secret) >= 2;
/** One random token in two thousand has no digit. */
const hasThreeClasses = (secret: string): boolean =>
  classesIn(secret) === 3 || isShuffledCase(secret.slice(4).replace(/[\W_]/g, ''));
/** One expression of several forms, each beginning at a word boundary. */
const oneOf = (...forms: string[]): string => String.raw`\b(?:${forms.join('|')})`;

/** Secrets that show by themselves what they are: the prefix, length and characters that their maker gives them. */
export function prefixRules(): Rule[] {
  const { raw } = String;
  return [
    {
      kind: 'private key',
      hint: 'PRIVATE KEY',
      pattern: () =>
        /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)([^-]{0,20000})((?:-----END [A-Z ]{0,40}-----)?)/g,
      isSecret: (secret) => secret.trim() !== '',
    },
    whole('age key', 'AGE-SECRET-KEY', oneOf('AGE-SECRET-KEY-1[A-Z0-9]{50,64}')),
    whole('aws key', 'A[KS]IA', raw`\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`),
    whole(
      'google key',
      raw`AIza|GOCSPX-|ya29\.`,
      oneOf(raw`AIza[\w-]{35}${END}`, raw`GOCSPX-[\w-]{28}${END}`, raw`ya29\.[\w-]{20,400}`),
    ),
    whole('jwt', 'eyJ', raw`\beyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{10,2000}`),
    ...codeHostRules(),
    ...modelServiceRules(),
    ...cloudRules(),
    ...appRules(),
  ];
}

function codeHostRules(): Rule[] {
  const { raw } = String;
  return [
    whole('github token', 'gh[pousr]_|github_pat_', oneOf('gh[pousr]_[A-Za-z0-9]{36,255}', raw`github_pat_\w{22,255}`)),
    whole(
      'gitlab token',
      'gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-',
      oneOf(raw`gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[\w-]{20,64}`),
    ),
    whole('npm token', 'npm_', oneOf(`npm_[A-Za-z0-9]{36}${END}`)),
    whole(
      'package token',
      'pypi-AgE|rubygems_|dckr_',
      oneOf(raw`pypi-AgE[\w-]{50,500}`, `rubygems_[a-f0-9]{48}${END}`, raw`dckr_(?:pat|oat)_[\w-]{20,60}`),
    ),
  ];
}

function modelServiceRules(): Rule[] {
  const { raw } = String;
  const services = [
    'hf_[A-Za-z0-9]{34}',
    'gsk_[A-Za-z0-9]{40,60}',
    'xai-[A-Za-z0-9]{60,90}',
    'pplx-[A-Za-z0-9]{40,60}',
  ];
  return [
    whole('anthropic key', 'sk-ant-', oneOf(raw`sk-ant-[\w-]{20,200}`)),
    whole('openai key', 'sk-', oneOf(raw`sk-(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,200}`), looksRandom),
    whole(
      'model service key',
      'hf_|gsk_|xai-|pplx-|r8_',
      `${oneOf(...services, 'r8_[A-Za-z0-9]{30,45}')}${END}`,
      hasTwoClasses,
    ),
    whole('holdfast token', 'hft?_', oneOf(raw`hft?_[\w-]{43}${END}`), hasThreeClasses),
  ];
}

function cloudRules(): Rule[] {
  const { raw } = String;
  return [
    whole(
      'cloud token',
      raw`do[opr]_v1_|dapi|sbp_|pscale_|nfp_|tskey-|pul-|\.atlasv1\.`,
      oneOf(
        `do[opr]_v1_[a-f0-9]{64}${END}`,
        raw`dapi[a-f0-9]{32}(?:-\d)?${END}`,
        `sbp_[a-f0-9]{40}${END}`,
        raw`pscale_(?:tkn|pw)_[\w-]{30,60}`,
        'nfp_[A-Za-z0-9]{36,40}',
        raw`tskey-[a-z]{2,10}-[\w-]{16,80}`,
        `pul-[a-f0-9]{40}${END}`,
        raw`[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,80}`,
      ),
    ),
    whole(
      'monitoring token',
      raw`glsa_|sntry[su]_|NRAK-|dt0c01\.`,
      oneOf(
        `glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}${END}`,
        raw`sntry[su]_[\w=+/-]{40,250}`,
        `NRAK-[A-Z0-9]{27}${END}`,
        raw`dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}${END}`,
      ),
    ),
    whole(
      'vault token',
      raw`hv[sbr]\.|dp\.(?:pt|st|sa|ct|scim|audit)\.|ops_eyJ`,
      oneOf(
        raw`hv[sbr]\.[\w-]{24,500}`,
        raw`dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}${END}`,
        raw`ops_eyJ[\w-]{40,2000}`,
      ),
    ),
  ];
}

function appRules(): Rule[] {
  const { raw } = String;
  return [
    whole('slack token', 'xox[abeoprs]-', oneOf('xox[abeoprs]-[A-Za-z0-9-]{10,250}')),
    whole(
      'slack webhook',
      raw`hooks\.slack\.com`,
      raw`https:\/\/hooks\.slack\.com\/(?:services|workflows)\/[\w/]{20,120}`,
    ),
    whole(
      'discord webhook',
      'api/webhooks/',
      raw`https:\/\/(?:\w{2,8}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/[\w-]{40,90}`,
    ),
    whole(
      'stripe key',
      '[rs]k_(?:live|test)_|whsec_',
      oneOf('[rs]k_(?:live|test)_[A-Za-z0-9]{16,247}', 'whsec_[A-Za-z0-9+/=]{24,64}'),
    ),
    whole('sendgrid key', raw`SG\.`, oneOf(raw`SG\.[\w-]{16,32}\.[\w-]{16,64}`)),
    whole(
      'app token',
      raw`shp(?:at|ca|pa|ss)_|lin_(?:api|oauth)_|ntn_|secret_|ATATT3|ATBB|figd_|pat[a-z0-9]{14}\.|sq0(?:atp|csp)-|PMAK-`,
      oneOf(
        `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}${END}`,
        'lin_(?:api|oauth)_[A-Za-z0-9]{32,64}',
        'ntn_[A-Za-z0-9]{40,60}',
        `secret_[A-Za-z0-9]{43}${END}`,
        raw`ATATT3[\w=-]{60,250}`,
        'ATBB[A-Za-z0-9]{28,40}',
        raw`figd_[\w-]{36,60}`,
        raw`pat[A-Za-z0-9]{14}\.[a-f0-9]{64}${END}`,
        raw`sq0(?:atp|csp)-[\w-]{22,43}`,
        `PMAK-[a-f0-9]{24}-[a-f0-9]{34}${END}`,
      ),
    ),
    whole(
      'bot token',
      raw`[MNO][\w-]{23,27}\.[\w-]{6}\.|\d:AA`,
      oneOf(raw`[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}${END}`, raw`\d{8,10}:AA[\w-]{33}${END}`),
      hasThreeClasses,
    ),
  ];
}
