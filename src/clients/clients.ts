import { claude } from './claude/install.ts';
import { codex } from './codex/install.ts';
import { copilot } from './copilot/install.ts';
import { cursor } from './cursor/install.ts';
import { gemini } from './gemini/install.ts';
import type { Clients } from './installation.ts';
import { opencode } from './opencode/install.ts';
import { qwen } from './qwen/install.ts';
import { vscode } from './vscode/install.ts';

export const clients: Clients = { claude, codex, gemini, qwen, copilot, vscode, cursor, opencode };
