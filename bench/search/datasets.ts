import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** Texts to search in, and questions about them. A collection becomes a run, a text a note. */
export interface Collection {
  name: string;
  texts: string[];
  questions: Question[];
}

export interface Question {
  text: string;
  category: string;
  /** The places of the texts that answer it. */
  answers: number[];
}

type Json = Record<string, unknown>;

/** LoCoMo (github.com/snap-research/locomo): long conversations; a session is a text, with its date and captions of pictures. */
export function readLocomo(folder: string): Collection[] {
  return locomoFiles(folder).map((conversation, index) => {
    const talk = (conversation['conversation'] ?? conversation) as Json;
    const numbers = Object.keys(talk)
      .flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
    const questions = (conversation['qa'] as { question: string; category: number; evidence: string[] }[]).map(
      ({ question, category, evidence }) => {
        const sessions = evidence.flatMap((place) =>
          [...String(place).matchAll(/D(\d+):/g)].map((match) => Number(match[1])),
        );
        const answers = [...new Set(sessions)].map((session) => numbers.indexOf(session)).filter((at) => at >= 0);
        return { text: question, category: String(category), answers };
      },
    );
    return {
      name: `locomo-${index}`,
      texts: numbers.map((number) => `${talk[`session_${number}_date_time`]}\n${linesOf(talk[`session_${number}`])}`),
      questions: questions.filter(({ answers }) => answers.length > 0),
    };
  });
}

function locomoFiles(folder: string): Json[] {
  const whole = [join(folder, 'data/locomo10.json'), join(folder, 'locomo10.json')].find(existsSync);
  if (whole) return JSON.parse(readFileSync(whole, 'utf8')) as Json[];
  const archive = [join(folder, 'data/locomo10.zip'), join(folder, 'locomo10.zip')].find(existsSync);
  if (!archive) throw new Error(`There is no data/locomo10.json or data/locomo10.zip in ${folder}.`);
  return unzip(readFileSync(archive))
    .filter(({ name }) => name.endsWith('.json'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ text }): Json[] => [JSON.parse(text()) as Json]);
}

/** The files of a zip archive, by its directory at the end. */
function unzip(bytes: Buffer): { name: string; text(): string }[] {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const files: { name: string; text(): string }[] = [];
  for (let entry = 0, at = bytes.readUInt32LE(end + 16); entry < bytes.readUInt16LE(end + 10); entry++) {
    const [method, size] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const local = bytes.readUInt32LE(at + 42);
    files.push({
      name: bytes.toString('utf8', at + 46, at + 46 + nameLength),
      text() {
        const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
        const data = bytes.subarray(start, start + size);
        return (method === 0 ? data : inflateRawSync(data)).toString('utf8');
      },
    });
    at += 46 + nameLength + extra + comment;
  }
  return files;
}

/** sde-bench (github.com/vectorize-io/sde-bench): chats in which a rule was agreed on, among others that say nothing of it. */
export function readSdeBench(folder: string): Collection[] {
  const texts: string[] = [];
  const questions: Question[] = [];
  for (const name of readdirSync(folder).sort()) {
    const file = join(folder, name, 'tasks/main/task.json');
    const task = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Json) : {};
    const turns = (task['conversations'] ?? []) as unknown[];
    if (turns.length === 0) continue;
    const chats = Array.isArray(turns[0]) ? turns : [turns];
    const answers = chats.map((chat) => texts.push(linesOf(chat)) - 1);
    questions.push({ text: String(task['bug_report']), category: String(task['source']), answers });
  }
  const others = JSON.parse(readFileSync(join(folder, 'gen/decoy_conversations.json'), 'utf8')) as { turns: unknown }[];
  for (const { turns } of others) texts.push(linesOf(turns));
  return [{ name: 'sde-bench', texts, questions }];
}

const linesOf = (turns: unknown): string =>
  (turns as { speaker?: string; role?: string; text: string; blip_caption?: string }[])
    .map(({ speaker, role, text, blip_caption = '' }) => `${speaker ?? role ?? ''}: ${text} ${blip_caption}`)
    .join('\n');
