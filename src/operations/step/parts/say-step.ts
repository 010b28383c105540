import { type Line, line } from '../../../core/line.ts';
import type { Pen } from '../../operation.ts';

export function sayStep({ key, title }: { key: string; title: string }, pen: Pen): Line {
  return line`${pen.bold(pen.quote(key, 'name'))} ${pen.quote(title, 'title')}`;
}
