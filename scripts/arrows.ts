import { posix } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { belowInterfaces, type Layer, layers, stillOpen } from './layers.ts';

export interface Refused {
  file: string;
  /** The import as written, or the files of a cycle. */
  imports: string;
  message: string;
}

interface Import {
  to: string;
  kind: 'value' | 'type' | 'dynamic';
}

/**
 * Checks every import of `src/` and `web/` against the layers. What they do not allow is refused, and so are cycles, type
 * imports included. `files` are the texts by path from the project's folder.
 */
export function checkArrows(files: ReadonlyMap<string, string>, open: readonly string[] = stillOpen): Refused[] {
  const refused: Refused[] = [];
  const used = new Set<string>();
  const graph = new Map<string, string[]>();
  for (const [file, text] of files) {
    const layer = layerOf(file);
    const own: string[] = [];
    graph.set(file, own);
    if (!layer) {
      refused.push({
        file,
        imports: '',
        message: 'The file belongs to no layer: add its folder to scripts/layers.ts.',
      });
      continue;
    }
    for (const { to, kind } of importsOf(file, text)) {
      const target = to.startsWith('.') ? posix.join(posix.dirname(file), to) : null;
      const entry = `${file} ${to}`;
      if (open.includes(entry)) {
        used.add(entry);
        continue;
      }
      if (target !== null) own.push(target);
      const why = target === null ? refusedModule(file, layer, to) : refusedFile(file, layer, target, kind);
      if (why !== null) refused.push({ file, imports: to, message: why });
    }
  }
  for (const entry of open) {
    const [file = '', imports = ''] = entry.split(' ');
    if (!used.has(entry))
      refused.push({ file, imports, message: 'This import is gone: remove it from `stillOpen` in scripts/layers.ts.' });
  }
  for (const cycle of findCycles(graph)) {
    const [file = ''] = cycle;
    refused.push({ file, imports: cycle.join(' -> '), message: 'These files import each other in a cycle.' });
  }
  return refused;
}

/** The layer with the longest path that matches: a single file may belong to another layer than its folder. */
export function layerOf(file: string): Layer | null {
  const holds = (path: string): boolean => (path.endsWith('/') ? file.startsWith(path) : file === path);
  const found = layers.filter(({ holds: paths }) => paths.some(holds));
  const longest = (layer: Layer): number => Math.max(...layer.holds.filter(holds).map((path) => path.length));
  return found.sort((a, b) => longest(b) - longest(a))[0] ?? null;
}

const isTest = (file: string): boolean => /\.(test|suite)\.tsx?$/.test(file) || file.startsWith('src/store/suite/');

function refusedFile(file: string, layer: Layer, target: string, kind: Import['kind']): string | null {
  const other = layerOf(target);
  const allowed = isTest(file) ? belowInterfaces : layer.imports;
  if (!other) return isTest(file) ? null : `${target} belongs to no layer.`;
  if (isTest(target) && !isTest(file)) return 'Only tests may import tests.';
  if (other === layer || allowed.includes(other.name)) return null;
  if (kind === 'type' && layer.types?.includes(other.name)) return null;
  const named = [...allowed, ...(layer.types ?? []).map((name) => `types of ${name}`)].join(', ');
  return `${layer.name} may import ${named || 'no other layer'}, not ${other.name}. ${layer.why}`;
}

/** The clock and randomness, which no import shows. */
const ambient = ['Date.now', 'Math.random'];

function refusedModule(file: string, layer: Layer, module: string): string | null {
  if (ambient.includes(module) && !layer.isPure) return null;
  const isAllowed = layer.modules.some((one) =>
    one === 'node:*'
      ? module.startsWith('node:') && module !== 'node:sqlite'
      : module === one || module.startsWith(`${one}/`),
  );
  if (isAllowed || isTest(file)) return null;
  return `${layer.name} may use ${layer.modules.join(', ') || 'no module'}, not ${module}. ${layer.why}`;
}

interface Node {
  type: string;
  [field: string]: unknown;
}

/** Every form of import: declarations, `export … from`, `import()`, `import('…').Type`, `require` and `getBuiltinModule`; and uses of the clock. */
export function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (source: unknown, kind: Import['kind']): void => {
    const { type, value, expression } = source as { type: string; value?: unknown; expression?: Node };
    if (type === 'TSAsExpression') add(expression, kind);
    // A computed name could be any module; no layer allows it.
    else found.push({ to: typeof value === 'string' ? value : 'a computed name', kind });
  };
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, source, importKind, exportKind, callee, arguments: given } = node as Node;
    if (type === 'TSImportType') add(source, 'type');
    else if (type === 'ImportExpression') add(source, 'dynamic');
    else if (type === 'TSExternalModuleReference') add((node as Node)['expression'], 'value');
    else if (type === 'NewExpression' && (callee as Node)['name'] === 'Date' && (given as Node[]).length === 0)
      found.push({ to: 'Date.now', kind: 'dynamic' });
    else if (type === 'MemberExpression') {
      const { object, property } = node as { object: Node; property: Node };
      const to = `${object['name']}.${property['name']}`;
      if (ambient.includes(to)) found.push({ to, kind: 'dynamic' });
    } else if (type === 'CallExpression' && loads(callee as Node)) add((given as Node[])[0] ?? { type: '' }, 'dynamic');
    else if (source && /^(Import|ExportAll|ExportNamed)Declaration$/.test(type ?? ''))
      add(source, (importKind ?? exportKind) === 'type' ? 'type' : 'value');
    for (const value of Object.values(node)) visit(value);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file).body);
  return found;
}

function loads({ type, name, property, callee }: Node): boolean {
  const called = type === 'MemberExpression' ? (property as Node)['name'] : type === 'CallExpression' ? null : name;
  if (called === 'require' || called === 'getBuiltinModule') return true;
  // `createRequire(here)('module')`
  return type === 'CallExpression' && (callee as Node)['name'] === 'createRequire';
}

/** One shortest cycle of each group of files that reach each other. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const covered = new Set<string>();
  for (const start of graph.keys()) {
    if (covered.has(start)) continue;
    const cycle = shortestWayBack(graph, start);
    if (!cycle) continue;
    cycles.push(cycle);
    for (const file of cycle) covered.add(file);
  }
  return cycles;
}

function shortestWayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const from = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) {
        const way = [start];
        for (let at = file; at !== start; at = from.get(at) ?? start) way.unshift(at);
        return [start, ...way];
      }
      if (from.has(next)) continue;
      from.set(next, file);
      queue.push(next);
    }
  }
  return null;
}
