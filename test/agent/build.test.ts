/** `run.build` with the real Pulumi CLI. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { RunInputs } from '../../shared/wire.ts';
import { until } from '../harness/until.ts';
import { finishRun, jobOf, makeBed, notReady, runOnce, start, yamlProgram, type Bed } from './bed.ts';
import type { Order } from '../../shared/wire.ts';

const shell = (script: string): [string, ...string[]] => ['/bin/sh', '-c', script];

const orderOf = (bed: Bed, build: RunInputs['build'], inputs: Partial<RunInputs> = {}): Promise<Order> =>
  bed.order(yamlProgram(), { inputs: { build, ...inputs } });

describe('a build', () => {
  test('runs before Pulumi, and the run’s output begins with its own', async (t) => {
    const bed = await makeBed(t);
    const order = await orderOf(bed, [shell('echo made of $WORD in $(basename "$PWD")'), ['env']], {
      env: [
        { name: 'WORD', value: 'wood' },
        { name: 'HIDDEN', valueFrom: { env: 'TEST_PASSPHRASE' } },
      ],
    });
    const { end, lines } = await runOnce(bed.executor, jobOf(order));
    assert.equal(end.result, 'succeeded', end.reason.text);
    assert.deepEqual(lines.slice(0, 3), [
      '[towline] build: /bin/sh -c echo made of $WORD in $(basename "$PWD")',
      'made of wood in work',
      '[towline] build: env',
    ]);
    const pulumi = lines.findIndex((line) => /Updating|updating/.test(line));
    assert.ok(pulumi > 3, lines.join('\n'));
    const environment = lines.slice(3, pulumi).filter((line) => /^[A-Z_]+=/.test(line));
    assert.ok(environment.some((line) => line.startsWith('TOWLINE_RUN=')));
    assert.ok(
      environment.every((line) => !/^(HIDDEN|PULUMI_)/.test(line)),
      environment.join('\n'),
    );
  });

  test('that fails is a failure of the program: its command, its last lines, and no update', async (t) => {
    const bed = await makeBed(t);
    const order = await orderOf(bed, [shell('echo one; echo no such module >&2; exit 3'), ['never']]);
    const verdict = await notReady(bed.executor, jobOf(order));
    assert.ok(verdict.kind === 'failed');
    assert.equal(verdict.failure, 'Program');
    assert.match(verdict.reason.text, /^the build ended with code 3: \/bin\/sh .* one no such module$/);
    assert.deepEqual(verdict.tail, ['one', 'no such module']);
    assert.deepEqual(await readdir(join(bed.dataDir, 'runs')), []);
  });

  test('is kept from what the stack did not declare, like the program', async (t) => {
    const bed = await makeBed(t);
    const script = "if (require('node:fs').existsSync('services')) console.log('found');";
    const order = await bed.order(yamlProgram(), {
      inputs: { build: [['node', '-e', script]] },
      surroundings: { '.': { undeclared: ['services/'] } },
    });
    const verdict = await notReady(bed.executor, jobOf(order));
    assert.ok(verdict.kind === 'failed');
    assert.equal(verdict.failure, 'Config');
    assert.equal(verdict.reason.code, 'UndeclaredInput');
    assert.match(verdict.reason.text, /^the build: .*add "\/services\/" to source\.include/);
  });

  test('of a program that is not there says so', async (t) => {
    const bed = await makeBed(t);
    const verdict = await notReady(bed.executor, jobOf(await orderOf(bed, [['no-such-program', 'x']])));
    assert.match(verdict.reason.text, /code 127: no-such-program x .*not found/);
  });

  test('never shows a secret of the run', async (t) => {
    const bed = await makeBed(t, { environment: { ...process.env, TEST_PASSPHRASE: 'open sesame now' } });
    const order = await orderOf(bed, [shell('echo "open sesame now"; exit 1')]);
    const verdict = await notReady(bed.executor, jobOf(order));
    assert.ok(verdict.kind === 'failed' && verdict.tail !== undefined);
    assert.deepEqual(verdict.tail, ['[secret]']);
  });

  test('ends at the time limit of the run', async (t) => {
    const bed = await makeBed(t, { graces: { firstMs: 100, secondMs: 100 } });
    const order = await bed.order(yamlProgram(), {
      inputs: { build: [['sleep', '100']] },
      policy: { timeoutMs: 1_000 },
    });
    const verdict = await notReady(bed.executor, jobOf(order));
    assert.ok(verdict.kind === 'failed' && verdict.failure === 'Timeout', JSON.stringify(verdict));
  });

  test('ends when the run is given up', async (t) => {
    const bed = await makeBed(t, { graces: { firstMs: 100, secondMs: 100 } });
    const began = join(bed.folder, 'began');
    const job = jobOf(await orderOf(bed, [shell(`touch ${began}; sleep 100`)]));
    const giveUp = new AbortController();
    const preparing = bed.executor.prepare(job, giveUp.signal);
    await until('the build to begin', () => readFile(began));
    giveUp.abort();
    const verdict = await preparing;
    assert.ok(verdict.kind === 'failed' && verdict.failure === 'Cancelled', JSON.stringify(verdict));
  });

  test('is told of again by an agent that takes the run up', async (t) => {
    const bed = await makeBed(t);
    const going = await start(bed.executor, jobOf(await orderOf(bed, [['echo', 'built']])));
    const { end, lines } = await finishRun(bed.again(), going);
    assert.equal(end.result, 'succeeded', end.reason.text);
    assert.deepEqual(lines.slice(0, 2), ['[towline] build: echo built', 'built']);
  });
});
