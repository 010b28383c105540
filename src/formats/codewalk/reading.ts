import type { YAMLMap } from 'yaml';
import type { ModelDecision, ModelItem, ModelSession, RunModel } from '../../core/model/run-model.ts';
import type { Problem } from '../format.ts';
import type { YamlPage } from './yaml-page.ts';

/** STATE.md with the files of its folder form: the account, and the node of YAML that says each record. */
export interface Reading {
  model: RunModel;
  page: YamlPage | null;
  decisions: Placed<ModelDecision>[];
  blockers: Placed<ModelItem>[];
  questions: ModelItem[];
  sessions: Placed<ModelSession>[];
  /** What is said in prose, or in a list of words: read, and left as it is. */
  loose: Pick<RunModel, 'decisions' | 'items' | 'sessions'>;
  /** Records lie in files of their own. */
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
