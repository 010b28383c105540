// A process of the month that is killed in the middle of its work. Arguments: the library, the journal, the run, the
// agent, the current time. Prints the acknowledged version of each action.
const [library, store, run, agent, startedAt] = process.argv.slice(2);
const { openHoldfast } = await import(library);

let nowMs = Date.parse(startedAt);
const now = () => {
  nowMs += 1000;
  return new Date(nowMs).toISOString();
};
const holdfast = await openHoldfast({ store, run, agent, now });
const report = ({ version }) => process.stdout.write(`${version}\n`);
for (let number = 0; ; number++) {
  report(await holdfast.note({ text: `Note ${number} of ${agent} at ${startedAt}` }));
  report(await holdfast.decide({ context: 'Here', decision: `Do it in way ${number}`, reason: 'It is near' }));
}
