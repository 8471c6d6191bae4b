/** Names of backends and stacks. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { claimOf, normaliseBackend, stackName } from '../../../hub/resolve/backend.ts';

const URLS: readonly (readonly [written: string, normal: string])[] = [
  ['', 'https://api.pulumi.com'],
  ['https://api.pulumi.com/', 'https://api.pulumi.com'],
  ['HTTPS://API.Pulumi.com', 'https://api.pulumi.com'],
  ['file:///var/state/', 'file:///var/state'],
  ['File:///var//x/../state', 'file:///var/state'],
  ['file://~/state', 'file://~/state'],
  ['file://', 'file://.'],
  ['s3://State/a/b/?region=eu-west-1&awssdk=v2', 's3://state/a/b'],
  ['s3://state?endpoint=minio:9000&region=x', 's3://state?endpoint=minio:9000'],
  ['azblob://c?storage_account=b&a=1', 'azblob://c?a=1&storage_account=b'],
  ['postgres://me@DB:5432/x', 'postgres://db:5432/x'],
  ['gs://bucket', 'gs://bucket'],
  ['not a url', 'not a url'],
];
for (const [written, normal] of URLS) {
  test(`backend “${written}” is ${normal}`, () => {
    assert.equal(normaliseBackend(written), normal);
    assert.equal(normaliseBackend(normal), normal);
  });
}

const S3 = 's3://state';
const CLOUD = 'https://api.pulumi.com';
type Row = readonly [written: string | undefined, backendUrl: string, name: string | RegExp, warned: boolean];
const NAMES: readonly Row[] = [
  [undefined, S3, 'organization/web/eu', false],
  [undefined, '', 'organization/web/eu', false],
  ['prod', S3, 'organization/web/prod', true],
  ['prod', '', 'organization/web/prod', true],
  ['organization/prod', S3, 'organization/web/prod', true],
  ['organization/web/prod', S3, 'organization/web/prod', false],
  ['acme/web/prod', CLOUD, 'acme/web/prod', false],
  ['acme/prod', CLOUD, 'acme/web/prod', true],
  ['acme/web/prod', '', 'acme/web/prod', false],
  ['prod', CLOUD, /needs an organisation: write ORGANISATION\/web\/prod/, false],
  [undefined, CLOUD, /needs an organisation/, false],
  ['prod', 'https://me:canary@pulumi.example', /^https:\/\/pulumi\.example needs an organisation/, false],
  ['acme/web/prod', S3, /knows no organisation “acme”/, false],
  ['organization/shop/prod', S3, /its project is “shop”/, false],
  ['a/b/c/d', S3, /is no stack name/, false],
  ['organization/web/', S3, /cannot be part of a stack name/, false],
  ['pröd', S3, /“pröd” cannot be part/, false],
];
for (const [written, backendUrl, expected, warned] of NAMES) {
  test(`stack “${written}” in “${backendUrl}”`, () => {
    const found = stackName({ written, project: 'web', cluster: 'eu', backendUrl });
    if (found.kind === 'fault') {
      assert.ok(expected instanceof RegExp);
      assert.match(found.text, expected);
    } else {
      assert.equal(found.name, expected);
      assert.equal(found.warning !== undefined, warned);
    }
  });
}

test('a claim is the same for all spellings, and another one in another cluster only where the backend is', () => {
  const claim = claimOf({ backendUrl: 's3://state', pulumiStack: 'organization/web/prod' });
  assert.equal(claimOf({ backendUrl: 'S3://state/?region=eu', pulumiStack: 'organization/web/prod' }), claim);
  assert.notEqual(
    claimOf({ backendUrl: 's3://state', pulumiStack: 'organization/web/prod', cluster: 'eu' }),
    claim,
  );
});
