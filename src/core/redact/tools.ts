import { type Check, type Rule, VALUE } from './rule.ts';
import { isCode, isDense, isPassword, isPlaceholder, isStrongPassword, isToken } from './value.ts';

/** A rule for the arguments of certain programs: it is applied to what follows the program's name in one command. */
export interface ToolRule extends Rule {
  /** The program, with the words that must follow it. */
  tool: () => RegExp;
}

/** Flags and arguments of known programs. */
export function toolRules(): ToolRule[] {
  return [...databaseTools(), ...loginTools(), ...fileTools(), ...secretStores()];
}

/** A rule for the value that follows `before` in a command of the programs named. */
function tool(kind: string, names: string, before: string, isSecret: Check = isPassword): ToolRule {
  return {
    kind,
    hint: names,
    tool: () => new RegExp(String.raw`(?<![\w.-])(?:${names})(?![\w-])`),
    pattern: () => new RegExp(`(${before})(${VALUE})()`, 'g'),
    isSecret,
  };
}

const { raw } = String;

/** After `-p`, whose value may follow at once: it is not the beginning of `-path` or `-pass`. */
const NO_LONG_FLAG = raw`(?!(?:ass|ath|ort|roject|rofile)\b)`;

function databaseTools(): ToolRule[] {
  return [
    // Without a space: `-p NAME` asks for the password and takes NAME as the database.
    tool(
      'password',
      'mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?|mycli',
      raw`\s-p${NO_LONG_FLAG}(?=[^\s-])`,
    ),
    tool('password', '(?:redis|valkey|keydb)-cli', raw`\s(?:-a\s{1,4}|--pass[ =])`),
    tool(
      'password',
      'mongo(?:sh|dump|restore|export|import)?|sqlcmd|bcp|ldap(?:search|add|modify|delete|whoami|passwd)|cqlsh|clickhouse-client|influx|rabbitmqadmin',
      raw`\s(?:-[pPw]${NO_LONG_FLAG}\s{0,4}|--pass[ =])(?=[^\s-])`,
    ),
    // `name/password@database`.
    {
      ...tool('password', 'sqlplus|exp|imp|sqlldr', ''),
      pattern: () => /(\s[\w$#]{1,40}\/)([^\s"'|;&<>()@/]{1,200})(@|(?=\s|$))/g,
    },
  ];
}

function loginTools(): ToolRule[] {
  return [
    tool('password', 'sshpass', raw`^\s{1,4}-p\s{0,4}`),
    {
      ...tool('password', 'curl|wget|https?|xh|lftp', ''),
      pattern: () =>
        /(\s(?:-u|--user|--proxy-user|-U|-a|--auth)[ =]?["']?[^\s:"']{1,100}:)((?:\\[^\n]|[^\s"'|;&\\]){1,300})(["']?)/g,
    },
    tool(
      'password',
      raw`(?:docker|podman|nerdctl|buildah|skopeo|oras|helm|az|oc|cf|ibmcloud|heroku|gcloud|rclone|restic|s3cmd)\s[^\n]{0,80}?\blogin`,
      raw`\s(?:-p${NO_LONG_FLAG}\s{0,4}|--password[ =])(?=[^\s-])`,
    ),
    // The percent sign parts name and password.
    tool('password', 'smbclient|mount|rpcclient|net', raw`\s-U\s{0,4}["']?[\w.\\-]{1,60}%`),
    tool('password', raw`(?:vault|bao)\s{1,4}login`, raw`^\s{1,4}(?:-\S{1,60}\s{1,4}){0,4}(?:token=)?(?=[^\s-])`),
    // What an expect script types: `send "V\r"`.
    {
      ...tool('password', 'expect', ''),
      pattern: () => /(\bsend\s{1,4}(?:--\s{1,4})?[\\"'{]{0,3})([^\s"'|;&\\{}]{4,200})(\\{1,2}[rn])/g,
      isSecret: (secret) => isStrongPassword(secret) || /[^\w\s]/.test(secret),
    },
    {
      ...tool('password', 'sudo', ''),
      pattern: () => new RegExp(raw`(\s-\w{0,4}S\b[^\n]{0,100}?<<<\s{0,4})(${VALUE})()`, 'g'),
    },
  ];
}

function fileTools(): ToolRule[] {
  return [
    tool('password', 'zip|unzip', raw`\s-P\s{0,4}`),
    tool('password', '7z[azr]?', raw`\s-p(?=\S)`),
    tool('password', 'openssl', raw`\s(?:-(?:passin|passout|pass)\s{1,4}["']?pass:|-[kK]\s{1,4})`),
    tool('password', 'gpg2?', raw`\s--passphrase[ =]`),
    tool(
      'password',
      raw`htpasswd\s{1,4}-\w{0,8}b\w{0,8}`,
      raw`^\s{1,4}(?:-\S{1,8}\s{1,4}){0,4}[^\s-]\S{0,119}\s{1,4}\S{1,60}\s{1,4}`,
    ),
  ];
}

function secretStores(): ToolRule[] {
  return [
    tool(
      'secret',
      raw`(?:aws\s{1,4}configure|(?:npm|pnpm|yarn)\s{1,4}config)\s{1,4}set|git\s{1,4}config`,
      raw`^\s[^\n]{0,120}?(?:key|token|secret|passw(?:or)?d|auth)\w{0,10}(?:\s{1,4}|=)(?=[^\s=])`,
    ),
    tool(
      'secret',
      raw`config\s{1,4}set\s[^\n]{0,80}?--secret`,
      raw`^\s{1,4}(?:--\S{1,60}\s{1,4})?[\w.:-]{1,80}\s{1,4}`,
    ),
    tool('secret', raw`mc\s{1,4}alias\s{1,4}set`, raw`^\s{1,4}\S{1,60}\s{1,4}\S{1,200}\s{1,4}\S{1,200}\s{1,4}`),
    tool('secret', raw`(?:gh|glab)\s{1,4}(?:secret|variable)\s{1,4}set`, raw`\s(?:-b|--body|--value)(?:\s{1,4}|=)`),
    {
      ...tool(
        'secret',
        raw`create\s{1,4}secret|secrets?\s{1,4}(?:set|put|add|create)|config:set|kv\s{1,4}put|env\s{1,4}(?:set|add)`,
        '',
      ),
      pattern: () => new RegExp(raw`([ =]["']?[\w.-]{1,80}=)((?!"?'?[\w.-]{1,80}=)(?:${VALUE}))()`, 'g'),
    },
  ];
}

/** The dash before the last part of a flag's name: `--http-password`, not `app-password`. */
const FLAG = raw`-(?<=(?:^|[\s"'])--?(?:[a-z0-9]{1,20}-){0,4})`;

/** Flags and assignments of any command. */
export function commandRules(): Rule[] {
  return [
    {
      kind: 'password',
      hint: raw`\|\s{0,4}sudo\s`,
      pattern: () =>
        new RegExp(
          raw`(\b(?:echo|printf)\s{1,4}(?:-\w{1,4}\s{1,4})?)(${VALUE})(\s{0,4}\|\s{0,4}sudo\s[^|;&\n]{0,40}?-\w{0,4}S)`,
          'g',
        ),
      isSecret: isPassword,
    },
    {
      kind: 'secret',
      hint: '-(?:password|passwd|passphrase|pwd|client-secret|secret-key|secret-access-key|private-token)',
      pattern: () =>
        new RegExp(
          raw`(${FLAG}(?:password|passwd|passphrase|pwd|client-secret|secret-key|secret-access-key|private-token)(?:=|\s{1,4}))(${VALUE})()`,
          'gi',
        ),
      isSecret: isPassword,
    },
    {
      kind: 'secret',
      hint: '-(?:token|api-?key|access-?key|auth-?key|secret|credentials?|pass)',
      pattern: () =>
        new RegExp(
          raw`(${FLAG}(?:token|api-?key|access-?key|auth-?key|secret|credentials?|pass)(?:=|\s{1,4}))(${VALUE})()`,
          'gi',
        ),
      isSecret: isToken,
    },
    // Before a command, after export, -e, --env or --set, in a here-document.
    {
      kind: 'secret',
      hint: '(?:pass(?:word|wd|phrase|code)?|pwd|auth|secret|key|token|credentials?)(?:_base|_value|_?[0-9]{1,2})?=',
      pattern: () =>
        /((?<![A-Za-z0-9])(?:PASS(?:WORD|WD|PHRASE|CODE)?|PWD|SECRET|(?:API|ACCESS|SECRET|PRIVATE|AUTH|ENCRYPTION|SIGNING|ACCOUNT)_?KEY|TOKEN|CREDENTIALS?|(?:PG|MYSQL_|REDISCLI_|SSH|RSYNC_)(?:PASSWORD|PWD|AUTH|PASS))(?:_BASE|_VALUE|_?\d{1,2})?=["']?)((?:\\[^\n]|[^\s"'`|;&<>()\\]){1,500})(["']?)/gi,
      isSecret: (secret) => isPassword(secret) && !/^\d+$/.test(secret) && !isCode(secret),
    },
    // A harmless name with a value that is nobody's word.
    {
      kind: 'random value',
      hint: raw`=["']?[a-z0-9+/_-]{20}`,
      pattern: () => /((?<![\w.-])[A-Za-z_]\w{0,60}=["']?)([A-Za-z0-9+/_-]{20,200}={0,2})(["']?(?=$|[\s;|&)]))/gm,
      isSecret: isRandomWord,
    },
  ];
}

/** Random by its characters alone; ids that tools make are not secret, nor are hashes and paths. */
function isRandomWord(value: string): boolean {
  return (
    isDense(value) &&
    !isPlaceholder(value) &&
    !/^(?:sha\d+-|toolu_|msg_|call_|req_|resp_|run_|[0-9a-f]+$)/.test(value) &&
    !/^[\w-]*(?:\/[\w.-]+){2,}$/.test(value)
  );
}

/**
 * Cuts a text into its commands, each with the mark that ends it. Marks inside quotes end nothing: a password may have
 * them. A quote that does not close on its line is an ordinary character.
 */
export function commandsIn(text: string): string[] {
  const commands: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"' || character === "'") {
      const close = text.indexOf(character, at + 1);
      if (close > 0 && !text.slice(at, Math.min(close, at + QUOTED_CHARS)).includes('\n') && close - at < QUOTED_CHARS)
        at = close;
    } else if (character === '\n' || character === '|' || character === ';' || character === '&') {
      commands.push(text.slice(start, at + 1));
      start = at + 1;
    }
  }
  if (start < text.length) commands.push(text.slice(start));
  return commands;
}

const QUOTED_CHARS = 2000;
