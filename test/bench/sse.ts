/** Server-sent events of the hub: bytes → events. */
import type { HubEvent } from '../../hub/api/events.ts';

/** The events of kinds that say something; comments and greetings are passed over. */
export async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<HubEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      const event = data === undefined ? {} : (JSON.parse(data.slice('data: '.length)) as Partial<HubEvent>);
      if (event.kind !== undefined) yield event as HubEvent;
    }
  }
}
