import { posix } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { belowInterfaces, dangers, type Layer, layers, stillOpen } from './layers.ts';

export interface Refused {
  file: string;
  /** The import as written, or the files of a cycle. */
  imports: string;
  message: string;
}

interface Import {
  to: string;
  kind: 'value' | 'type' | 'dynamic';
  /** The names that are imported; undefined for all of the module. */
  names?: string[];
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
    for (const one of importsOf(file, text)) {
      const { to, kind } = one;
      const refuse = (message: string | null): void => {
        if (message !== null) refused.push({ file, imports: to, message });
      };
      const target = to.startsWith('.') ? posix.join(posix.dirname(file), to) : null;
      const entry = `${file} ${to}`;
      if (open.includes(entry)) {
        used.add(entry);
        refuse(dangerOf(file, one));
        continue;
      }
      if (target !== null) own.push(target);
      const why = target === null ? refusedModule(file, layer, to) : refusedFile(file, layer, target, kind);
      refuse(why ?? dangerOf(file, one));
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

/** A name that is not listed as harmless may do harm. */
function dangerOf(file: string, { to, kind, names }: Import): string | null {
  const danger = dangers.find(({ uses }) => uses.some((one) => to === one || to.startsWith(`${one}/`)));
  if (!danger || kind === 'type' || isTest(file)) return null;
  const { what, harmless = [], only } = danger;
  if (only.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path))) return null;
  const harmful = names?.filter((name) => !harmless.includes(name));
  if (harmful?.length === 0) return null;
  return `${harmful ? harmful.join(', ') : to}: only ${only.join(', ')} may ${what}.`;
}

/** A global, or the name of a program: not an import. */
const isGlobal = (to: string): boolean => globals.includes(to) || to === "'git'";
const globals = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'];

/** The clock and randomness, which no import shows. */
const ambient = ['Date.now', 'Math.random'];

function refusedModule(file: string, layer: Layer, module: string): string | null {
  if (isGlobal(module)) return null;
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
  const add = (source: unknown, kind: Import['kind'], names?: string[]): void => {
    const { type, value, expression } = source as { type: string; value?: unknown; expression?: Node };
    if (type === 'TSAsExpression') add(expression, kind, names);
    // A computed name could be any module; no layer allows it.
    else found.push({ to: typeof value === 'string' ? value : 'a computed name', kind, ...(names && { names }) });
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
      const name = property['value'] as string;
      if (globals.includes(name) && isGlobalObject(object)) found.push({ to: name, kind: 'value' });
    } else if (type === 'CallExpression' && loads(callee as Node)) add((given as Node[])[0] ?? { type: '' }, 'dynamic');
    else if (source && /^(Import|ExportAll|ExportNamed)Declaration$/.test(type ?? ''))
      add(source, (importKind ?? exportKind) === 'type' ? 'type' : 'value', namesOf(node as Node));
    else if (type === 'Identifier' && globals.includes((node as Node)['name'] as string))
      found.push({ to: (node as Node)['name'] as string, kind: 'value' });
    else if (type === 'Literal' && (node as Node)['value'] === 'git') found.push({ to: "'git'", kind: 'value' });
    for (const [field, value] of Object.entries(node)) if (!isLabel(node as Node, field)) visit(value);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file).body);
  return found;
}

/** The values that a declaration names; undefined if it takes the whole module. */
function namesOf({ specifiers }: Node): string[] | undefined {
  const named = (specifiers ?? []) as Node[];
  if (named.length === 0 || named.some(({ type }) => !/^(Import|Export)Specifier$/.test(type))) return undefined;
  const values = named.filter((one) => one['importKind'] !== 'type' && one['exportKind'] !== 'type');
  return values.map((one) => ((one['imported'] ?? one['local']) as Node)['name'] as string);
}

const isGlobalObject = ({ name }: Node): boolean => ['globalThis', 'global', 'window', 'self'].includes(name as string);

/** The name of a member or property, which is not a use of a global. `globalThis.fetch` is one. */
function isLabel({ type, computed, object, property }: Node, field: string): boolean {
  if (type === 'MemberExpression' && field === 'property') {
    const isPlain = computed !== true || (property as Node).type === 'Literal';
    return isPlain && !isGlobalObject(object as Node);
  }
  return field === 'key' && computed !== true;
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
