import { createReadStream, readFileSync, realpathSync, statSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { Readable } from 'node:stream';

/** The file types of the dashboard; anything else is not served. */
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

/** Serves the built dashboard, whose views are in the fragment of the one page `/`. Null for what is not part of it. */
export function createWeb(folder: string): (path: string, request: Request) => Response | null {
  return (path, request) => {
    const wanted = path === '/' ? '/index.html' : path;
    const file = findFile(folder, wanted);
    if (file === null) return wanted === '/index.html' ? missing() : null;
    const { size, mtimeMs } = statSync(file);
    const headers = {
      'content-type': types[extname(file)] ?? '',
      'content-length': String(size),
      etag: `"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`,
      // File names in `assets` change with their content.
      'cache-control': wanted.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    if (request.headers.get('if-none-match') === headers.etag) return new Response(null, { status: 304, headers });
    if (request.method === 'HEAD') return new Response(null, { headers });
    // Small files whole: a stream would cost more.
    const body = size < 256 * 1024 ? readFileSync(file) : (Readable.toWeb(createReadStream(file)) as ReadableStream);
    return new Response(body, { headers });
  };
}

/** A file inside the folder, after following links; not hidden, and of a known type. */
function findFile(folder: string, path: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
    if (!/^(\/[\w@-][\w.@-]*)+$/.test(decoded) || !(extname(decoded) in types)) return null;
    const root = realpathSync(folder);
    const file = realpathSync(join(root, decoded));
    return file.startsWith(root + sep) && statSync(file).isFile() ? file : null;
  } catch {
    return null;
  }
}

export function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return page(status, `<p>${text}</p>`, headers);
}

function missing(): Response {
  return page(
    200,
    `<h1>Holdfast is running</h1>
<p>The dashboard is not part of this build. The API is available: see <a href="/openapi.json">/openapi.json</a>.</p>
<p>From source, <code>npm run build</code> builds it.</p>`,
  );
}

function page(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(
    `<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Holdfast</title>\n${body}\n</html>\n`,
    { status, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers } },
  );
}
