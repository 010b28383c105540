import { fieldsIn, type Field as LineField } from '../../text/field.ts';
import type { Page } from '../../text/page.ts';

/** The labels of key lines, by the name that the table uses, with their other spellings. */
const spellings = {
  phase:
    'current phase|active phase|fase|fase atual|fase actual|阶段|当前阶段|단계|현재 단계|フェーズ|現在のフェーズ|aktuelle phase|phase actuelle|фаза|этап|текущая фаза|текущий этап',
  'phase name': 'current phase name|nome da fase|阶段名称|단계 이름',
  'total phases': 'total de fases|总阶段|阶段总数|전체 단계',
  plan: 'current plan|active plan|plano|plano atual|plan actual|计划|当前计划|계획|현재 계획|計画|プラン|aktueller plan|план|текущий план',
  'total plans': 'total plans in phase|total de planos',
  task: 'current task|active task|tarefa|tarefa atual|tarea|任务|当前任务|작업|현재 작업',
  slice: 'active slice',
  milestone: 'active milestone|current milestone|marco|里程碑|当前里程碑|마일스톤',
  status: 'current status|estado|状态|当前状态|상태|현재 상태|ステータス|状態|statut|статус|состояние',
  progress: 'overall progress|progresso|progresso geral|progreso|进度|总体进度|整体进度|진행률|진행 상황|전체 진행률',
  'last activity':
    'última atividade|ultima atividade|última actividad|最后活动|最近活动|마지막 활동|최근 활동|最終活動|letzte aktivität|dernière activité|последняя активность',
  'last activity description': '',
  'last updated':
    'updated|última atualização|ultima atualização|última actualización|最后更新|更新时间|마지막 업데이트|최종 업데이트|最終更新|zuletzt aktualisiert|dernière mise à jour|обновлено|последнее обновление',
  'paused at': 'pausado em|暂停于',
  focus: 'current focus|foco atual|foco|enfoque actual|当前重点|当前焦点|현재 초점|현재 포커스',
  'core value': 'valor central|核心价值|핵심 가치',
  project: 'projeto|proyecto|项目|프로젝트',
  'last session':
    'last date|session date|última sessão|ultima sessão|última sesión|上次会话|最近会话|마지막 세션|지난 세션',
  'stopped at': 'parou em|parado em|detenido en|停止于|停在|中断于|중단 지점|중단 위치',
  'resume file': 'resume from|arquivo de retomada|archivo de reanudación|恢复文件|재개 파일',
  next: 'resume|next action|next step|next steps|próxima ação|próximo passo|siguiente paso|下一步|下一步行动|다음|다음 작업|다음 단계|次|次のアクション|nächster schritt|prochaine action|prochaine étape|следующий шаг|далее',
} as const;

export type FieldName = keyof typeof spellings;
export type Field = LineField<FieldName>;
export type Fields = ReadonlyMap<FieldName, Field>;

export const readFields = (page: Page, from: number, to: number): Map<FieldName, Field> =>
  fieldsIn(page, from, to, (label) => labels.get(label));

const labels = new Map(
  (Object.entries(spellings) as [FieldName, string][]).flatMap(([name, words]) =>
    [name, ...words.split('|')].flatMap((word) => (word === '' ? [] : [[word, name] as const])),
  ),
);
