import { agent, at, fixed, id, type Line, line, quoteStart } from '../../line.ts';
import type { Request, Who } from '../facts.ts';
import { leftOut, type Section } from './section.ts';

export const who = ({ agent: name, session }: Who): Line => line`${agent(name)} (${id(session)})`;

/** What was asked. Chosen in the order given, shown in the order of time. */
export function requestSection(requests: readonly Request[], now: string, share: number): Section {
  return {
    name: 'requests',
    share,
    count: requests.length,
    show(chars) {
      const kept = chars.map((most, index) => ({ request: requests[index] as Request, most }));
      kept.sort((a, b) => (a.request.at < b.request.at ? -1 : a.request.at > b.request.at ? 1 : 0));
      return [
        ...kept.map(({ request, most }) => requestLine(request, now, most)),
        ...leftOut([
          { noun: fixed('request'), command: fixed('`holdfast timeline`'), count: requests.length - chars.length },
        ]),
      ];
    },
  };
}

function requestLine(request: Request, now: string, chars: number): Line {
  const time = at(request.at, now);
  const text = quoteStart(request.text, chars);
  switch (request.is) {
    case 'asked':
      return line`Asked${{ only: fixed(''), first: fixed(' first'), last: fixed(' last') }[request.which]} (${time}): ${text}`;
    case 'answered':
      return line`Answered (${time}): ${text}, to the question ${quoteStart(request.question, chars)}`;
    case 'meanwhile':
      return line`Meanwhile ${who(request.who)} was asked (${time}): ${text}`;
    default:
      return request satisfies never;
  }
}
