import { claude } from './claude.ts';
import type { Clients } from './client.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';
import { vscode } from './vscode.ts';

export const clients: Clients = { claude, codex, gemini, qwen, copilot, vscode, cursor, opencode };
