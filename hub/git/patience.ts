/** How long a host wants to be left alone, by the headers of an answer. Pure. */
import { limits } from '../../shared/limits.ts';
import { retryAfterMs } from './failure.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A reset above this is a time of the clock (s), below it a span: GitHub and GitLab send the one, the drafts of a standard the other. */
const CLOCK_SECONDS = 1_000_000_000;

/**
 * Until when nothing should be asked, ms; undefined: the host said nothing of that kind. Knows `Retry-After`,
 * `RateLimit-Remaining` with `RateLimit-Reset`, the same with `X-`, and `RateLimit: "name";r=0;t=30`. Never longer than
 * limits.retryAfterMaxMs.
 */
export function quietUntil(headers: Headers, now: number): number | undefined {
  const text = (name: string): string | undefined => [headers[name]].flat()[0];
  const retry = retryAfterMs(text('retry-after'), now);
  const ends = [
    ...(retry === undefined ? [] : [now + retry]),
    ...['ratelimit', 'x-ratelimit'].flatMap((prefix) =>
      exhausted(text(`${prefix}-remaining`), text(`${prefix}-reset`), now),
    ),
    ...(text('ratelimit') ?? '').split(',').flatMap((policy) => {
      const fields = policy.split(';').map((field) => field.trim());
      const value = (name: string): string | undefined =>
        fields.find((field) => field.startsWith(`${name}=`))?.slice(name.length + 1);
      return exhausted(value('r'), value('t'), now);
    }),
  ].filter((end) => end > now);
  return ends.length === 0 ? undefined : Math.min(Math.max(...ends), now + limits.retryAfterMaxMs);
}

/** When there will be more, if nothing is left. */
function exhausted(remaining: string | undefined, reset: string | undefined, now: number): number[] {
  if (remaining === undefined || reset === undefined) return [];
  const [left, seconds] = [Number(remaining), Number(reset)];
  if (remaining.trim() === '' || reset.trim() === '' || left > 0 || !Number.isFinite(seconds)) return [];
  if (Number.isNaN(left)) return [];
  return [seconds > CLOCK_SECONDS ? seconds * 1000 : now + seconds * 1000];
}
