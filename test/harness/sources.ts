/** A fleet's repository and one of programs, watched by the hub's own sources. */
import { makeSources } from '../../hub/git/poller.ts';
import type { RepositorySettings, Sources } from '../../hub/git/source.ts';
import type { Repository } from './git.ts';
import { atEnd, type Owner } from './owned.ts';
import { tempFolder } from './temp.ts';

export interface Watched {
  readonly fleet: Repository;
  readonly programs: Repository;
}

/** Polled every second, by the names `fleet` and `programs`; closed with the owner. */
export async function watchBoth(owner: Owner, { fleet, programs }: Watched): Promise<Sources> {
  const settings = (name: string, url: string, trust: RepositorySettings['trust']): RepositorySettings => ({
    ...{ name, url, trust, ref: { branch: 'main' }, manifests: ['**/*.yaml'], intervalMs: 1_000 },
  });
  const sources = await makeSources({
    repositories: [
      settings('fleet', fleet.folder, 'fleet'),
      settings('programs', programs.folder, 'sources'),
    ],
    folder: await tempFolder(owner, 'mirrors'),
    git: { program: 'git', environment: { PATH: process.env['PATH'] } },
    onHint: () => undefined,
  });
  atEnd(owner, () => sources.close());
  return sources;
}
