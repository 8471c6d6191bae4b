/** The tag that a range of versions means. Pure. */
import semver from 'semver';

const FOLDER = 'refs/tags/';

/** A full ref name with the id behind it. */
export interface NamedRef {
  readonly ref: string;
  readonly id: string;
}

/**
 * The highest version among tags such as `v1.2.3` and `1.2.3` that satisfies the range; undefined: none does. A version
 * before a release (`2.0.0-rc.1`) counts only where the range names one of the same release. Of tags with the same
 * version, the one with the smallest name counts.
 */
export function highestTag(refs: readonly NamedRef[], range: string): NamedRef | undefined {
  const fitting = refs.flatMap((one) => {
    const version = one.ref.startsWith(FOLDER) ? semver.parse(one.ref.slice(FOLDER.length)) : null;
    return version !== null && semver.satisfies(version, range) ? [{ one, version }] : [];
  });
  const [highest] = fitting.sort(
    (a, b) => semver.compareBuild(b.version, a.version) || (a.one.ref < b.one.ref ? -1 : 1),
  );
  return highest?.one;
}

/** Whether a text is a range of versions. */
export const isRange = (text: string): boolean => text.trim() !== '' && semver.validRange(text) !== null;
