/**
 * Synthetic secrets in the forms in which they are met, generated from a seed: the tests measure with them how many the
 * rules find. No value here was ever in use.
 */
export interface Sample {
  text: string;
  secret: string;
}

export type Form = (random: Random) => Sample;

export interface Random {
  chars(count: number, alphabet?: string): string;
  pick<T>(list: readonly T[]): T;
  below(limit: number): number;
}

/** Deterministic: the same seed gives the same values. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chars: (count, alphabet = ALNUM) => Array.from({ length: count }, () => alphabet[below(alphabet.length)]).join(''),
    pick: (list) => list[below(list.length)] as (typeof list)[number],
  };
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const ALNUM = LOWER + UPPER + DIGITS;
const URL_SAFE = `${ALNUM}-_`;
const BASE64 = `${ALNUM}/+`;
const HEX = '0123456789abcdef';

const words = ['correct', 'horse', 'battery', 'monkey', 'sommer', 'winter', 'dragon', 'purple', 'mountain', 'river'];

/** A password as people choose them. */
export function password(random: Random): string {
  const word = (): string => random.pick(words);
  const forms = [
    () => `${word()}${10 + random.below(90)}`,
    () => word() + word(),
    () => `${word().replace(/^./, (first) => first.toUpperCase())}20${10 + random.below(16)}!`,
    () => random.chars(8),
    () => `${word()}-${word()}-${random.below(9999)}`,
    () => `hunter${random.below(9)}!`,
    () => random.chars(14),
  ];
  return random.pick(forms)();
}

/** A form from a template in which `%s` is the secret. */
const form =
  (template: string, secretOf: (random: Random) => string): Form =>
  (random) => {
    const secret = secretOf(random);
    return { text: template.replace('%s', () => secret), secret };
  };
/** A token with a prefix, given to some command. */
const token = (secretOf: (random: Random) => string): Form => form('mytool login %s', secretOf);
const chars =
  (count: number, alphabet?: string) =>
  (random: Random): string =>
    random.chars(count, alphabet);

/** The kinds that every version must find. */
export const knownKinds: Readonly<Record<string, Form>> = {
  'aws access key id': token((r) => `AKIA${r.chars(16, `${UPPER}234567`)}`),
  'aws secret in the environment': form('AWS_SECRET_ACCESS_KEY=%s aws s3 ls', chars(40, BASE64)),
  'aws configure set': form('aws configure set aws_secret_access_key %s', chars(40, BASE64)),
  'github classic': token((r) => `ghp_${r.chars(36)}`),
  'github fine-grained': token((r) => `github_pat_${r.chars(22)}_${r.chars(59)}`),
  gitlab: token((r) => `glpat-${r.chars(20)}`),
  'slack bot': token((r) => `xoxb-123456789012-1234567890123-${r.chars(24)}`),
  'slack webhook': form(
    'curl %s',
    (r) => `https://hooks.slack.com/services/T0${r.chars(8, UPPER)}/B0${r.chars(8, UPPER)}/${r.chars(24)}`,
  ),
  stripe: token((r) => `sk_live_${r.chars(24)}`),
  anthropic: token((r) => `sk-ant-api03-${r.chars(93, URL_SAFE)}AA`),
  'openai project': token((r) => `sk-proj-${r.chars(74)}T3BlbkFJ${r.chars(74)}`),
  'openai legacy': token((r) => `sk-${r.chars(48)}`),
  google: token((r) => `AIza${r.chars(35, URL_SAFE)}`),
  npm: token((r) => `npm_${r.chars(36)}`),
  sendgrid: token((r) => `SG.${r.chars(22)}.${r.chars(43)}`),
  jwt: token((r) => `eyJhbGciOiJIUzI1NiJ9.eyJ${r.chars(36)}.${r.chars(43)}`),
  'password of a database address': form('psql postgres://app:%s@db.internal/prod', (r) => `Tr0ub4dor&${r.below(99)}`),
  'mysql -p': form('mysql -u root -p%s -h db', chars(14)),
  'curl -u': form('curl -u admin:%s https://api.example.com', chars(16)),
  'basic authorization': form('curl -H "Authorization: Basic %s" https://x', (r) => `YWRtaW46${r.chars(14)}2=`),
  'x-api-key': form('curl -H "X-Api-Key: %s" https://x', chars(32, HEX)),
  'sshpass -p': form('sshpass -p %s ssh root@h', chars(14)),
  PGPASSWORD: form('PGPASSWORD=%s psql', (r) => `hunter${r.below(9)}!`),
  '--password WORD': form('mytool --password %s', (r) => r.pick(words) + r.pick(words)),
  '--password=': form('mytool --password=%s', chars(16)),
  'docker login -p': form('docker login -u me -p %s reg', chars(20)),
  'hugging face': token((r) => `hf_${r.chars(34)}`),
  digitalocean: token((r) => `dop_v1_${r.chars(64, HEX)}`),
  'azure storage': form('AccountKey=%s', (r) => `${r.chars(86, BASE64)}==`),
  'azure signed address': form('https://x.blob.core.windows.net/c?sv=2022&sig=%s', (r) => `${r.chars(43)}7%3D`),
  'discord bot': token((r) => `MTIz${r.chars(20)}.${r.chars(6)}.${r.chars(38)}`),
  'telegram bot': token((r) => `123456789:AA${r.chars(33)}`),
  twilio: form('TWILIO_AUTH_TOKEN=%s', chars(32, HEX)),
  shopify: token((r) => `shpat_${r.chars(32, HEX)}`),
  pypi: token((r) => `pypi-AgEIcHlwaS5vcmc${r.chars(80)}`),
  vault: token((r) => `hvs.${r.chars(90)}`),
  doppler: token((r) => `dp.pt.${r.chars(43)}`),
  linear: token((r) => `lin_api_${r.chars(40)}`),
  notion: token((r) => `ntn_${r.chars(46)}`),
  age: token((r) => `AGE-SECRET-KEY-1${r.chars(58, UPPER + DIGITS)}`),
  'private key': form(
    'echo "-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n-----END OPENSSH PRIVATE KEY-----" > k',
    chars(70),
  ),
  databricks: token((r) => `dapi${r.chars(32, HEX)}`),
  cloudflare: form('CF_API_TOKEN=%s x', chars(40, URL_SAFE)),
  holdfast: token((r) => `hf_${r.chars(43, URL_SAFE)}`),
  'harmless name': form('export FOO=%s', chars(32)),
  'here-document': form('cat > .env <<EOF\nDB_PASS=%s\nEOF', chars(18)),
};

/** Other ways in which commands are given a secret. */
export const commandForms: Readonly<Record<string, Form>> = {
  'mysqldump -p': form('mysqldump -h db -u app -p%s shop > out.sql', password),
  'mysql --password=': form('mysql --user=app --password=%s shop', password),
  'psql with settings': form('psql "host=db user=app password=%s dbname=x"', password),
  'redis-cli -a': form('redis-cli -h cache -a %s PING', password),
  'mongosh -p': form('mongosh --host db -u app -p %s', password),
  'curl --user': form("curl -s --user 'ann:%s' https://x", password),
  'PRIVATE-TOKEN': form("curl -H 'PRIVATE-TOKEN: %s' https://gitlab.local/api", chars(20)),
  'wget --http-password': form('wget --http-user=a --http-password=%s https://x', password),
  'kubectl --from-literal': form(
    'kubectl create secret generic db --from-literal=user=app --from-literal=password=%s',
    password,
  ),
  'helm --set': form('helm upgrade x ./c --set db.password=%s', password),
  'docker -e': form('docker run -d -e POSTGRES_PASSWORD=%s postgres:16', password),
  'openssl pass:': form('openssl enc -aes-256-cbc -in a -out b -pass pass:%s', password),
  'gpg --passphrase': form('gpg --batch --passphrase %s -c f', password),
  'unzip -P': form('unzip -P %s a.zip', password),
  '7z -p': form('7z x -p%s a.7z', password),
  'ldapsearch -w': form('ldapsearch -x -D cn=admin -w %s -b dc=x', password),
  'smbclient -U': form('smbclient //h/s -U ann%%s', password),
  sqlplus: form('sqlplus app/%s@db', chars(12)),
  'sqlcmd -P': form('sqlcmd -S db -U sa -P %s -Q "select 1"', password),
  'heroku config:set': form('heroku config:set STRIPE=%s', chars(24)),
  'fly secrets set': form('fly secrets set SMTP=%s', password),
  'gh secret set': form('gh secret set DEPLOY --body %s', chars(20)),
  'npm config set': form('npm config set //registry.local/:_authToken %s', chars(36, URL_SAFE)),
  netrc: form('echo "machine git.local login ann password %s" >> ~/.netrc', password),
  'az login -p': form('az login --service-principal -u id -p %s --tenant t', chars(34, `${ALNUM}~.`)),
  'token in an address': form('git clone https://%s@github.local/a/b', chars(40, HEX)),
  'access_token=': form("curl 'https://api.x/me?access_token=%s&v=1'", chars(64)),
  'aws presigned': form("curl 'https://b.s3.amazonaws.com/k?X-Amz-Signature=%s'", chars(64, HEX)),
  cookie: form("curl -H 'Cookie: session=%s' https://x", chars(40)),
  'redis address': form('export REDIS_URL=redis://:%s@cache:6379', password),
  'ado.net': form('dotnet run --conn "Server=db;Database=x;User Id=sa;Password=%s;"', password),
  'line of an env file': form('printf "SECRET_KEY_BASE=%s\\n" >> .env', chars(64, HEX)),
  SMTP_PASS: form('SMTP_PASS=%s node send.js', password),
  '--api-token': form('jcli --api-token %s build', chars(34, HEX)),
  'pulumi config set': form('pulumi config set --secret dbPassword %s', password),
  'ansible -e': form("ansible-playbook x.yml -e 'db_password=%s'", password),
  'mc alias set': form('mc alias set s3 https://s3.local ACCESS %s', chars(40)),
  'vault login': form('vault login s.%s', chars(24)),
  'echo to sudo -S': form('echo %s | sudo -S apt update', password),
  'expect send': form('expect -c "send %s\\r"', password),
};

const spelled = (random: Random): string => random.pick(['Gr4nit-77', random.chars(12), 'p4ssw0rdX', 'S3cretXy9']);

/** What people write, and what files and programs print. */
export const proseForms: Readonly<Record<string, Form>> = {
  'password of something is': form('The password of the staging box is %s (user pat).', (r) =>
    r.pick(['Wint3r-Sturm-88', 'Sommer2026!', 'hunter2x9', 'Tr0ub4dor&3']),
  ),
  'password for something is': form('use it and password for prod is %s ok', (r) =>
    r.pick(['Summer2025!', 'Gr4nit-77', 'k1ngf1sher']),
  ),
  yaml: form('db:\n  user: app\n  password: %s\n', spelled),
  json: form('{"user":"a","password":"%s"}', spelled),
  python: form("conn = connect(user='a', password='%s')", spelled),
  'env, aws': form('AWS_SECRET_ACCESS_KEY=%s', chars(40, BASE64)),
  'env, database': form('DB_PASS=%s', password),
  'one plain word': form('the password is %s', (r) => r.pick(words)),
  'token is': form('my token is %s', chars(30)),
  'pw:': form('PW: %s', password),
};

export interface Recall {
  found: number;
  tried: number;
  /** Forms of which some were missed, with how many. */
  missed: Readonly<Record<string, number>>;
}

/** How many secrets are no longer in the text afterwards. */
export function measureRecall(
  forms: Readonly<Record<string, Form>>,
  clean: (text: string) => string,
  { seed, each }: { seed: number; each: number },
): Recall {
  const random = seeded(seed);
  const missed: Record<string, number> = {};
  let found = 0;
  let tried = 0;
  for (const [name, make] of Object.entries(forms)) {
    for (let count = 0; count < each; count++) {
      const { text, secret } = make(random);
      tried++;
      if (!clean(text).includes(secret)) found++;
      else missed[name] = (missed[name] ?? 0) + 1;
    }
  }
  return { found, tried, missed };
}
