import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { createFixture } from './mcp-fixture.ts';

/** Newer than the oldest Node this project runs on: the suite and the inspector need it. */
const NODE = '22.23.3';
const CONFORMANCE = '0.1.16';
const INSPECTOR = '2.12.0';

/** What the product itself offers: run against the built `holdfast serve`, with a token. */
const onProduct = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];
/** What needs special tools, resources or prompts: run against a fixture with the same transport. */
const onFixture = [
  'completion-complete',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-logging',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'json-schema-2020-12',
  'logging-set-level',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'server-sse-polling',
];

/** Runs the official conformance suite over HTTP and the inspector's command line over pipes. */
export async function checkConformance(): Promise<boolean> {
  const { node, folder } = bringTools();
  const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const inspector = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const workspace = mkdtempSync(join(tmpdir(), 'holdfast-conformance-'));
  const program = join(process.cwd(), 'dist/bin/holdfast.cjs');
  const holdfast = (...words: string[]) => spawnSync(process.execPath, [program, ...words], { cwd: workspace });
  holdfast('init', '--title', 'Conformance', '--id', 'conformance');
  holdfast('plan', 'add', 't1', 'A step');
  const product = await serveProduct(program, workspace);
  const streamable = createFixture();
  const fixture = await listen((request) => streamable.fetch(request, { token: '', clientId: 'suite', scopes: [] }));
  const results: { what: string; ok: boolean }[] = [];
  const note = (what: string, ok: boolean, more = ''): void => {
    results.push({ what, ok });
    console.log(`${ok ? 'pass' : 'FAIL'}  ${what}${ok ? '' : `\n${more.slice(-1500)}`}`);
  };
  try {
    for (const [scenarios, url] of [
      [onProduct, product.url],
      [onFixture, fixture.url],
    ] as const) {
      for (const scenario of scenarios) {
        const ran = await run(node, [suite, 'server', '--url', url, '--scenario', scenario], folder);
        note(scenario, ran.code === 0, ran.output);
        for (const [, warning = ''] of ran.output.matchAll(/WARNING\S*\s+(.*)$/gm))
          console.log(`      warns: ${warning}`);
      }
    }
    const offered = await run(node, [suite, 'list', '--server'], folder);
    const left = [...offered.output.matchAll(/^\s*- ([\w-]+)/gm)].map(([, name = '']) => name);
    const missing = left.filter((name) => !onProduct.includes(name) && !onFixture.includes(name));
    note('every scenario for servers is run', missing.length === 0 && left.length > 0, missing.join(', '));
    for (const [what, ...words] of inspections) {
      const line = [inspector, '--cli', process.execPath, program, 'mcp', ...words];
      const ran = await run(node, line, workspace);
      note(`inspector ${words.join(' ')}`, ran.code === 0 && ran.output.includes(what), ran.output);
    }
  } finally {
    await streamable.close();
    await product.close();
    fixture.close();
    rmSync(workspace, { recursive: true, force: true });
  }
  const failed = results.filter(({ ok }) => !ok).length;
  console.log(`${results.length - failed} of ${results.length} passed.`);
  return failed === 0;
}

/** What the answer must contain, and the arguments for the inspector. */
const inspections: readonly [string, ...string[]][] = [
  ['checkpoint', '--method', 'tools/list'],
  ['in_progress', '--method', 'tools/call', '--tool-name', 'start', '--tool-arg', 'key=t1'],
  ['holdfast://brief', '--method', 'resources/list'],
  ['Next: ', '--method', 'resources/read', '--uri', 'holdfast://brief'],
  ['handoff', '--method', 'prompts/list'],
];

/** Installs from npm into a folder outside the project that is kept for the next time. */
function bringTools(): { node: string; folder: string } {
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'holdfast-test', 'mcp');
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const nodePackage = `node-${platform}-${process.arch}`;
  const node = join(folder, 'node_modules', nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const wanted = [
    `${nodePackage}@${NODE}`,
    `@modelcontextprotocol/conformance@${CONFORMANCE}`,
    `@modelcontextprotocol/inspector@${INSPECTOR}`,
  ];
  const mark = join(folder, wanted.join(' ').replace(/[^\w.]+/g, '-'));
  if (!existsSync(mark)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted];
    const ran = spawnSync('npm', words, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' });
    if (ran.status !== 0) throw new Error('npm could not install the suite.');
    writeFileSync(mark, '');
  }
  return { node, folder };
}

/** Listens on a local port, behind the library's checks of host and origin. */
async function listen(answer: (request: Request) => Promise<Response>): Promise<{ url: string; close(): void }> {
  const fetch = async (request: Request): Promise<Response> =>
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    answer(request);
  const server = serve({ fetch, port: 0, hostname: '127.0.0.1' });
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => server.close() };
}

/** A proxy that adds the token, because the suite cannot send one, and changes nothing else. */
async function serveProduct(program: string, workspace: string): Promise<{ url: string; close(): Promise<void> }> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  for await (const piece of child.stdout.setEncoding('utf8')) {
    said += piece;
    if (said.includes('token=')) break;
  }
  const [, target = '', token = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/login\?token=(\S+)/.exec(said) ?? [];
  const { port } = new URL(target);
  const server = createServer((request, response) => {
    const { method, headers, url: path } = request;
    const onward = { host: '127.0.0.1', port, path, method, headers: forwarded(headers, port, token) };
    const passed = ask(onward, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${own}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** The host of the proxy becomes the product's own; any other stays as it is. */
function forwarded(headers: IncomingHttpHeaders, port: string, token: string): OutgoingHttpHeaders {
  const isOwn = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
  const origin = headers.origin?.replace(/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/, `http://127.0.0.1:${port}`);
  return {
    ...headers,
    ...(isOwn ? { host: `127.0.0.1:${port}` } : {}),
    ...(origin === undefined ? {} : { origin }),
    authorization: `Bearer ${token}`,
  };
}

async function run(command: string, words: string[], cwd: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  return { code: code as number | null, output };
}
