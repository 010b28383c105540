// One of many processes that work on a journal: does random things and prints for each when it began, when it ended and
// the answer. Arguments: the library, the folder, the agent, a seed, how many actions, the offset of the clock.
const [library, dir, agent, seed, count, shiftMs] = process.argv.slice(2);
const { openHoldfast } = await import(library);

let state = Number(seed) >>> 0;
const below = (limit) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
};
const pick = (from) => from[below(from.length)];

// The clock of this process is wrong, and jumps.
let shift = Number(shiftMs);
const now = () => new Date(Date.now() + shift).toISOString();
const store = process.env.HOLDFAST_STORE;
const holdfast = await openHoldfast({ dir, agent, now, ...(store ? { store } : {}) });
const runs = ['one', 'one', 'one', 'r1', 'r2', 'r3'];
const steps = ['a', 'b', 'c', 'd', 'e', 'f'];

const actions = {
  note: (hf, token) => hf.note({ text: token }),
  decide: (hf, token) => hf.decide({ context: 'Here', decision: token, reason: 'Because' }),
  raise: (hf, token) => hf.raise({ kind: 'question', text: token }),
  start: (hf) => hf.start({ key: pick(steps) }),
  checkpoint: (hf, token) => hf.checkpoint({ name: token, step: pick(steps) }),
  complete: (hf, token) => hf.complete({ key: pick(steps), summary: token }),
  reopen: (hf, token) => hf.reopen({ key: pick(steps), reason: token }),
  offer: (hf, token) => hf.handoff({ to: `agent${below(4)}`, message: token }),
  accept: (hf) => hf.handoff.accept({ id: `H-${1 + below(6)}` }),
  mail: (hf, token) => hf.mail.send({ to: 'agent1', type: 'notify', subject: token, body: 'Look' }),
  supervise: (hf) => hf.supervise({ once: true }),
  heartbeat: (hf) => hf.heartbeat(),
};
const names = Object.keys(actions).concat([
  'note',
  'decide',
  'start',
  'start',
  'checkpoint',
  'checkpoint',
  'checkpoint',
]);

for (let number = 0; number < Number(count); number++) {
  if (shift !== 0 && below(8) === 0) shift = -shift;
  const action = pick(names);
  const run = pick(runs);
  const token = `${agent}-${process.pid}-${number}-x`;
  const began = String(process.hrtime.bigint());
  let answer;
  try {
    const { version, id } = await actions[action](holdfast.as({ agent, run }), token);
    answer = { ok: true, version, id };
  } catch (thrown) {
    answer = { ok: false, code: thrown.code ?? 'thrown', message: thrown.message };
  }
  const ended = String(process.hrtime.bigint());
  process.stdout.write(`${JSON.stringify({ action, run, token, began, ended, ...answer })}\n`);
}
await holdfast.close();
