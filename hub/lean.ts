/**
 * Keeps the process small; imported before anything else. A first pass over a large fleet makes garbage fast, and the young
 * generation that grows with it is never given back. After a first pass over 10,000 placements: 506 MiB resident without,
 * 386 MiB with this, at the same CPU time.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--semi-space-growth-factor=1');
