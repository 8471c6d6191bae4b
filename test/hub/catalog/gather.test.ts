/** What is read of repositories, and what one that cannot be read keeps from the others. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { makeGather } from '../../../hub/catalog/files.ts';
import { readCatalog } from '../../../hub/catalog/read.ts';
import { OversizedBlobError, type SourceView } from '../../../hub/git/source.ts';
import { NOW, printCatalog } from './files.ts';

const view = (name: string, blob: (id: string) => Promise<Buffer>): SourceView => ({
  ...{ name, url: name, ref: 'refs/heads/main', trust: 'fleet', manifests: ['*.yaml'] },
  ...{ state: 'Ready', since: 1, checkedAt: 1 },
  tree: {
    ...{ repository: name, ref: 'refs/heads/main', commit: { id: name, subject: '', author: '', time: 1 } },
    entries: async () => [{ path: `${name}.yaml`, mode: '100644', id: name }],
    blob,
  },
});

const cluster = async (id: string): Promise<Buffer> =>
  Buffer.from(`apiVersion: towline.dev/v1\nkind: Cluster\nmetadata: {name: ${id}}\n`);

test('a repository with an object that cannot be read is named, and the others are read', async () => {
  const broken = view('broken', () => Promise.reject(new Error('object is missing')));
  const gathered = await makeGather()([broken, view('good', cluster)]);
  assert.deepEqual([...gathered.broken], [['broken', 'object is missing']]);
  assert.equal(printCatalog(readCatalog(gathered.files, NOW)), 'cluster good');
});

test('a file too large to be held is said to be, and the others are read', async () => {
  const huge = view('huge', (id) => Promise.reject(new OversizedBlobError(id, 3e8)));
  const gathered = await makeGather()([huge, view('good', cluster)]);
  assert.equal(gathered.broken.size, 0);
  const printed = printCatalog(readCatalog(gathered.files, NOW));
  assert.match(printed, /^cluster good$/m);
  assert.match(printed, /^huge:huge\.yaml:1: .*300000000 bytes/m);
});
