import { describe, expect, it } from 'vitest';
import { cleanPrompt, readPrompt } from './prompt.ts';
import { sharedWords, significantWords } from './words.ts';

const thumbnails = ['Thumbnails of portrait photos come out rotated', 'thumb.rs', 'exif.rs', '登录页面'];

/** Whether a prompt joins a run about thumbnails that waits for an answer about a dark theme. */
function joins(prompt: string, asked = 'Should the legend get a theme for the night?'): boolean | null {
  const { is, words } = readPrompt(prompt);
  if (is === 'command') return null;
  if (is === 'about') return sharedWords(words, thumbnails) > 0;
  if (is === 'answer-and-more') return sharedWords(words, [asked]) > 0;
  return is !== 'request';
}

describe('a prompt joins unfinished work', () => {
  it.each([
    'continue',
    'Continue.',
    'Continue, but first fix the lint error',
    'ok weiter',
    'продолжай',
    '继续',
    'go on and tell me when done',
    'keep going until the tests pass',
    'yes',
    '1',
    'continue with the thumbnails',
    'Pick up where Claude left off and keep the field names',
    'Go on, but make the reminder text friendlier first',
    'please continue where you left off',
    'hey claude, continue',
    'Do the next one',
    'finish it',
    'can you go on please',
    'In our last session we chose tabs; now add tests',
    'where were we?',
    'Continue as before',
    'continue to the next step',
    'Continue – and mind the umlauts',
    'finish what you started',
    'next',
    'Next step!',
    'Weiter bis alles grün ist',
    'Bitte mach weiter',
    'Ja, mach fertig',
    'Kannst du da anfangen, wo wir aufgehört haben?',
    "Continuez s'il vous plaît, et testez",
    'On continue mais sans toucher au CSS',
    'Où en étions-nous ?',
    'Por favor, sigue',
    'Sigamos donde lo dejamos',
    'Continua, mas sem novos pacotes',
    'Vamos continuar de onde paramos',
    'Vai avanti e poi committa',
    'Ga verder, maar langzaam',
    'Kontynuuj, ale bez nowych plików',
    'Давай дальше',
    'Скажи, на чём мы остановились',
    'devam et',
    'Kaldığımız yerden devam edelim',
    '続けてください',
    'では、続けて',
    '继续，但是先修复测试',
    '请继续',
    '계속해줘',
    'أكمل من فضلك',
    'जारी रखें',
    '继续修复登录页面的错误',
    'resume work on the importer',
    'Continue the rotated photos',
    'ok, go ahead',
    'yes please',
    '410',
    'b)',
    'the second one',
    'Ja',
    'да',
    'はい',
    '好的',
    '네',
    'yes, a dark theme',
    '/holdfast:resume',
    'thanks, now keep going',
    'continue please',
    'Continue!',
    'so, where did we leave off?',
    'carry on with the rest',
    'Resume.',
    'proceed',
    "let's keep going",
    'back to work',
    'what were you doing before the crash?',
    'Continue from where you left off',
    'continue your unfinished work',
    'move on',
    'ok go on',
    'Could you carry on, but skip the docs',
    'weitermachen',
    'Fahr fort, bitte',
    'Mach da weiter, wo du stehengeblieben bist',
    'Wo waren wir?',
    "Reprends là où tu t'es arrêté",
    'Poursuis',
    'la suite',
    '¿Por dónde íbamos?',
    'Continúa con lo que falta y avísame',
    'Prosiga',
    'Retome de onde paramos',
    'Riprendi da dove eravamo rimasti',
    'ga door',
    'Waar waren we?',
    'dalej',
    'wznów, ale najpierw testy',
    'Продолжим?',
    'где мы остановились?',
    'Nerede kalmıştık?',
    '続きをお願いします',
    '前回の続きから',
    '再開して',
    '接着做',
    '接着上次的工作',
    '이어서 해줘',
    '지난번에 이어서 진행해',
    'من حيث توقفنا',
    'आगे बढ़ो',
    'No',
    'nein',
    'oui',
    '2',
    'do it',
    'sure',
    'Evet',
  ])('%j', (prompt) => {
    expect(joins(prompt)).toBe(true);
  });
});

describe('a prompt opens a run of its own', () => {
  it.each([
    'Continue button does nothing',
    'Resume upload endpoint returns 500',
    'Next.js 16 upgrade',
    'continue-on-error must be true in CI',
    'resume.md needs a date',
    'Weitere Sprachen',
    'Continue with Google login is broken',
    'yes, add a search box',
    'Weiterhin Fehler beim Login',
    'Finish the CSV export',
    'Next page is empty',
    'Proceedings of the workshop as PDF',
    'Pick up the order id from the header',
    'Go online with the new shop',
    'Carry over unused vacation days',
    'Continue the migration of the billing tables',
    'Dalejsze kroki w README',
    '继续教育课程打不开',
    'No results page needs a picture',
    'Si el usuario cancela, borra el borrador',
    'A page for the opening hours',
    'Now the tests, please.',
    'Just-in-time compilation of templates',
    '#123 is still broken',
    '/usr/bin/env is missing in the image',
    'Sure-fire way to reproduce it: open two tabs',
    '# Task\nWrite the importer',
    'Resumeable downloads',
    'Ok button is too small',
    'Continue statements in the parser are ignored',
    'Resume parsing fails for PDF files',
    'Go on-call rotation page',
    'Carry-on luggage rules in the FAQ',
    "Add a 'continue' button",
    'Why does resume print nothing?',
    'Proceed button stays disabled',
    'Keep going back to the login page is annoying, fix the redirect',
    'Pick up date must be a weekday',
    'Nextcloud sync is broken',
    'The next step button overlaps the footer',
    'Move on hover to click',
    'Continue reading links 404',
    '1. Add a footer\n2. Add a header',
    'No tests run in CI',
    'Yes/no dialog needs translations',
    'OK, neue Aufgabe: Impressum schreiben',
    'Weiterleitung nach dem Login ist falsch',
    'Fortsetzung des Artikels fehlt auf Seite 2',
    'Weiter-Button ist zu klein',
    'La suite de tests est lente',
    'Continuer le tutoriel : le lien est cassé',
    'Oui Oui mascot image is missing',
    'Sigue habiendo un error en el pago',
    'Continua integrazione: aggiungi un workflow',
    'Verder lezen link werkt niet',
    'Dalej nie działa logowanie',
    'Дальше по странице сломана кнопка',
    'Devamsızlık raporu ekle',
    '続行ボタンが押せない',
    '继续按钮没有反应',
    '接着剂的库存不足',
    '계속 오류가 나요 로그인 페이지에서',
    'تابعونا على تويتر رابط معطل',
    'Do it yourself guide for new contributors',
    'Sure, here is the log: TypeError at line 3',
    '2 columns on the landing page',
    'a11y audit of the settings page',
    'Go ahead of time zones: store UTC',
    'Finish line animation',
    'Resume: write a CV template',
    'Continue? prompt is shown twice',
    'back to work schedule page',
    'go ahead and do it',
  ])('%j', (prompt) => {
    expect(joins(prompt)).toBe(false);
  });
});

/** Whether a prompt joins a run about a tile cache that waits for an answer. */
function joinsCache(prompt: string): boolean | null {
  const cache = [
    'Map tiles eat the disk. Cap the cache at 2 GB',
    'evict.ts',
    'cache.ts',
    'Soak test',
    'Document the limit',
  ];
  const { is, words } = readPrompt(prompt);
  if (is === 'command') return null;
  if (is === 'about') return sharedWords(words, cache) > 0;
  if (is === 'answer-and-more') return sharedWords(words, ['Should old tiles be deleted at start or lazily?']) > 0;
  return is !== 'request';
}

describe('prompts that were written down before they were tried', () => {
  it.each([
    ...['Continue please, I had to restart the laptop', 'ok continue', 'Continue where you left off.', 'lets continue'],
    ...['continue with the next task', 'continue the soak test', 'Go on with the tile cache', 'Resume work'],
    ...['please proceed with the plan', 'resume the session', 'pick up the tile cache again', 'Keep going!'],
    ...['keep going, but no new dependencies', 'carry on, then commit', 'finish this and push', 'where were we'],
    ...['What were you doing when it crashed?', 'Read the notes from our last session and go on', 'yes, lazily'],
    ...['no, delete them at start', '2)', 'b', 'ok', 'Ja bitte', "Weiter geht's", 'mach bitte weiter'],
    ...['Weiter mit dem Cache', 'Wir waren gestern beim Cache stehen geblieben', "Continue s'il te plaît"],
    ...['Reprends le travail sur le cache', 'Continúa', 'sigue por favor', 'Continua da dove eravamo rimasti'],
    ...[
      'продолжай работу',
      'Продолжи, пожалуйста, но без новых файлов',
      '続けてお願いします',
      '继续上次的工作',
      '继续吧',
    ],
    ...[
      '계속 진행해 주세요',
      'devam edelim',
      'lütfen devam et',
      'dalej proszę',
      'ga verder met de cache',
      'تابع العمل',
    ],
    ...['आगे बढ़ें'],
  ])('join: %j', (prompt) => {
    expect(joinsCache(prompt)).toBe(true);
  });

  it.each([
    ...['Continue reading the CSV after a bad row', 'Continue token is missing in the pagination API', 'lazily'],
    ...['Resume downloads after a network error', 'Resume button in the player is grey', 'Next episode autoplay'],
    ...['Proceed to checkout is broken on mobile', 'Pick up location must be shown on the map', 'option 2'],
    ...['Finish line graphic for the marathon page', 'Carry-over of unused days', 'Yes/No toggle for newsletters'],
    ...['Go on holiday mode: mute all notifications', 'next steps section in the README', 'OK Google integration'],
    ...[
      'No such file or directory when I start the server',
      'One more thing: sort the imports',
      'Also rename the module',
    ],
    ...['1 px border around the cards', 'Sigue sin funcionar el login', 'Weiterempfehlen-Knopf einbauen'],
    ...[
      'Fortsetzungsroman als PDF ausgeben',
      "La suite Office doit s'ouvrir dans un onglet",
      'continue_on_error is ignored',
    ],
    ...['Continuous integration for Windows', 'Continued fractions in the math module', '继续阅读按钮不见了'],
    ...[
      '続きを読むボタンの色を変えて',
      '계속하기 버튼이 작동하지 않아요',
      'Продолжительность фильма показывать в минутах',
    ],
    ...['Devam eden siparişleri listele', 'verder zoeken in de lijst lukt niet', 'sure thing bakery needs a menu page'],
    ...['No, that is a different bug: the map is blank', 'A/B test for the landing page', 'Setz die Arbeit fort'],
    ...['Do it like in the mobile app: swipe to delete', 'Add "continue where you left off" to the video player'],
    ...['Show where the user left off in the course', 'Answer "where were we?" in the chatbot from the history'],
    ...['Store where each reader left off'],
  ])('open a run: %j', (prompt) => {
    expect(joinsCache(prompt)).toBe(false);
  });

  it.each(['/resume', '/clear', 'hey', 'Guten Morgen!'])('wait for the next one: %j', (prompt) => {
    expect(joinsCache(prompt)).toBeNull();
  });
});

describe('a prompt is nothing to work on', () => {
  it.each([
    '',
    '  \n',
    '[Image #1]',
    '[Image #1] [Image #2]',
    '/compact',
    '/review src/x.ts',
    '!ls -la',
    '#always use tabs',
    'hi',
    'Hello!',
    'Hallo Claude',
    'Good morning.',
    '你好',
    '<command-name>/model</command-name><command-message>model</command-message>',
    '<task-notification>done</task-notification>',
  ])('%j', (prompt) => {
    expect(joins(prompt)).toBeNull();
  });
});

describe('what clients add to a prompt', () => {
  it('is removed, and the words of the user stay as they are', () => {
    const raw =
      '<hook_context>Holdfast record</hook_context>\n\nFix it [Image #1]\u202e now\n<system-reminder>Be nice</system-reminder>';
    expect(cleanPrompt(raw)).toEqual({ text: 'Fix it now', images: 1 });
    expect(cleanPrompt('Say <b>hello</b>\nto all').text).toBe('Say <b>hello</b>\nto all');
  });

  it('is not a request, whatever stands in it', () => {
    expect(readPrompt('<system-reminder>continue</system-reminder> Add a footer').is).toBe('request');
  });
});

describe('what follows the phrase', () => {
  it('is a request of the run that is joined', () => {
    expect(readPrompt('continue')).toMatchObject({ is: 'continuation', saysMore: false });
    expect(readPrompt('please go on!')).toMatchObject({ is: 'continuation', saysMore: false });
    for (const polite of ['Go on, please.', 'Continue where we left off.', 'weiter, bitte', 'continue please, claude'])
      expect(readPrompt(polite)).toMatchObject({ is: 'continuation', saysMore: false });
    const more = ['Pick up where Claude left off and keep the field names', 'Where were we? Use tabs.'];
    for (const prompt of more) expect(readPrompt(prompt)).toMatchObject({ is: 'continuation', saysMore: true });
    expect(readPrompt('Go on, but make the text friendlier')).toMatchObject({ is: 'continuation', saysMore: true });
  });
});

describe('significant words', () => {
  it('have four letters or more, count by their first five, and say something', () => {
    expect([...significantWords('Continue with the Thumbnails of thumb.ts')]).toEqual(['conti', 'thumb']);
    expect(significantWords('登录页面')).toEqual(new Set(['登录', '录页', '页面']));
  });
});
