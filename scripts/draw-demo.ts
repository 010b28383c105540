import type { Frame, Role } from '../src/bin/demo/stage.ts';
import { wrapped } from '../src/cli/wrap.ts';

/** The recorded lines of `holdfast demo` as an animated picture: plain SVG and CSS, no script, no font, light and dark. */
export function drawDemo(frames: readonly Frame[]): string {
  const scenes = scenesOf(frames);
  const height = 44 + ROWS * LINE;
  const groups = scenes.map((scene, number) => drawScene(scene, number, number === scenes.length - 1));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${LABEL}">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--text);white-space:pre}
svg{--back:#ffffff;--text:#1f2328;--dim:#59636e;--caption:#0550ae;--agent:#8a4600;--good:#116329;--bad:#a40e26;--edge:#d1d9e0}
@media (prefers-color-scheme:dark){svg{--back:#0d1117;--text:#e6edf3;--dim:#9198a1;--caption:#79c0ff;--agent:#e3b341;--good:#56d364;--bad:#ff7b72;--edge:#3d444d}}
.caption{font-size:16px;font-weight:600;fill:var(--caption)}.you,.command{font-weight:600}.agent{fill:var(--agent)}.answer{fill:var(--dim)}.good{fill:var(--good)}.bad{fill:var(--bad)}
g,text{animation:${SECONDS}s infinite step-end}
${groups.map(({ style }) => style).join('\n')}
@media (prefers-reduced-motion:reduce){svg g[class],svg text[class]{animation:none}svg g[class]{visibility:hidden}svg g.last{visibility:visible}}
</style>
<rect x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="8" fill="var(--back)" stroke="var(--edge)"/>
${groups.map(({ drawing }) => drawing).join('\n')}
</svg>
`;
}

const LABEL =
  'A coding agent works and is killed in the middle of a deploy. Another agent starts, gets a brief and continues after the checkpoint.';
const WIDTH = 880;
const COLUMNS = 108;
const LINE = 18;
const ROWS = 20;
const SECONDS = 20;
/** How long each of the four captions is shown. */
const SHARES = [5.5, 2.5, 7, 5];

interface Scene {
  caption: string;
  lines: { role: Role; text: string }[];
}

/** One for each numbered caption; what comes after them is left out. */
function scenesOf(frames: readonly Frame[]): Scene[] {
  const scenes: Scene[] = [];
  for (const { role, text } of frames) {
    if (role === 'caption' && !/^\d/.test(text)) break;
    if (role === 'caption') scenes.push({ caption: text.replace(/^\d\s+/, ''), lines: [] });
    else scenes.at(-1)?.lines.push(...shownLines(role, text));
  }
  return scenes;
}

function shownLines(role: Role, text: string): Scene['lines'] {
  const mark = role === 'command' ? '$ ' : '';
  // Paths of a temporary folder say nothing to a reader.
  const line = `${mark}${text}`.replace(/\/\S*holdfast-demo-\w+\/shop/g, '~/shop');
  return wrapped(line, COLUMNS, 2)
    .split('\n')
    .map((part) => ({ role, text: part }));
}

function drawScene({ caption, lines }: Scene, number: number, isLast: boolean): { style: string; drawing: string } {
  const from = SHARES.slice(0, number).reduce((sum, share) => sum + share, 0);
  const length = SHARES[number] ?? 0;
  const percent = (seconds: number): string => `${Math.min(100, (seconds / SECONDS) * 100).toFixed(2)}%`;
  const name = `s${number}`;
  const to = from + length;
  const window = number === 0 ? '' : `0%,${percent(from - 0.01)}{visibility:hidden}`;
  const after = isLast ? '' : `${percent(to)},100%{visibility:hidden}`;
  const rules = [
    `.${name}{animation-name:${name}}@keyframes ${name}{${window}${percent(from)}{visibility:visible}${after}}`,
  ];
  // The lines come in the first two thirds; the rest is for reading.
  const step = (length * 0.66) / Math.max(1, lines.length);
  const drawn = lines.slice(0, ROWS - 1).map(({ role, text }, index) => {
    const at = from + 0.4 + index * step;
    const line = `${name}l${index}`;
    rules.push(`.${line}{animation-name:${line}}@keyframes ${line}{0%{opacity:0}${percent(at)}{opacity:1}}`);
    return `<text class="${role} ${line}" x="20" y="${62 + index * LINE}">${escaped(text)}</text>`;
  });
  const head = `<text class="caption" x="20" y="32">${number + 1} · ${escaped(caption)}</text>`;
  return {
    style: rules.join('\n'),
    drawing: `<g class="${name}${isLast ? ' last' : ''}">${head}\n${drawn.join('\n')}</g>`,
  };
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
