import { parseMarkdownPlan } from './markdown-plan.ts';
import { parsePhaseTemplate } from './phase-template.ts';
import type { PlanPage } from './plan-page.ts';
import { parseYamlPlan } from './yaml-plan.ts';

/** Reads a plan by its content: a YAML or JSON list, or a map with one; else Markdown. */
export async function parsePlan(text: string, name = ''): Promise<PlanPage> {
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  if (/\.(?:md|markdown|txt)$/i.test(name)) return parsePage(plain);
  const isData = /\.(?:ya?ml|json)$/i.test(name);
  // A bullet list of Markdown is a list in YAML too; check boxes, headings and prose are not data.
  const looksLikeMarkdown = /^(?:#{1,6}\s|\s*(?:[-*+]|\d+[.)])\s+\[[ xX-]\]\s)/m.test(plain);
  const data = isData || !looksLikeMarkdown ? await parseYamlPlan(plain) : null;
  if (data !== null && (isData || data.problems.length === 0)) return data;
  return parsePage(plain);
}

const parsePage = (text: string): PlanPage => parsePhaseTemplate(text) ?? parseMarkdownPlan(text);
