// A process of the month that is killed in the middle of its work. Given: the library, the journal, the run, the agent,
// the time it is. Says the version that each thing it did was told to be at.
const [library, store, run, agent, startedAt] = process.argv.slice(2);
const { openHoldfast } = await import(library);

let nowMs = Date.parse(startedAt);
const now = () => {
  nowMs += 1000;
  return new Date(nowMs).toISOString();
};
const holdfast = await openHoldfast({ store, run, agent, now });
const tell = ({ version }) => process.stdout.write(`${version}\n`);
for (let number = 0; ; number++) {
  tell(await holdfast.note({ text: `Note ${number} of ${agent} at ${startedAt}` }));
  tell(await holdfast.decide({ context: 'Here', decision: `Do it in way ${number}`, reason: 'It is near' }));
}
