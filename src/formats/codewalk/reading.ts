import type { YAMLMap } from 'yaml';
import type { ModelDecision, ModelItem, ModelSession, RunModel } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import type { YamlPage } from './yaml-page.ts';

/** STATE.md with the files of its folder form: the run model, and the YAML node of each entry. */
export interface Reading {
  model: RunModel;
  page: YamlPage | null;
  decisions: Placed<ModelDecision>[];
  blockers: Placed<ModelItem>[];
  questions: ModelItem[];
  sessions: Placed<ModelSession>[];
  /** Entries in prose or plain lists: read, never edited. */
  loose: Pick<RunModel, 'decisions' | 'items' | 'sessions'>;
  /** Entries are in their own files. */
  folders: boolean;
  problems: Problem[];
  writable: boolean;
}

export interface Placed<T> {
  value: T;
  page: YamlPage;
  path: string;
  node: YAMLMap;
}
