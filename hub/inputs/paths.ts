/** Repository paths: `/` between parts, no leading slash, `.` for the root. */

/** The folder that holds a path; the root holds itself. */
export function folderOf(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut < 0 ? '.' : path.slice(0, cut);
}

/** The last part of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** A path inside a folder. */
export const inside = (folder: string, path: string): string => (folder === '.' ? path : `${folder}/${path}`);

/** Whether a path lies below a folder, at any depth. */
export const isBelow = (path: string, folder: string): boolean =>
  folder === '.' || path.startsWith(`${folder}/`);

/** What is left of a path below a folder. */
export const relativeTo = (path: string, folder: string): string =>
  folder === '.' ? path : path.slice(folder.length + 1);

/** The folder itself and every folder above it, nearest first, the root last. */
export function upwards(folder: string): string[] {
  const folders = [folder];
  for (let at = folder; at !== '.';) {
    at = folderOf(at);
    folders.push(at);
  }
  return folders;
}

/** A relative path seen from a folder; undefined when it leaves the repository or is absolute. */
export function joinPath(folder: string, relative: string): string | undefined {
  if (relative.startsWith('/')) return undefined;
  const parts = folder === '.' ? [] : folder.split('/');
  for (const part of relative.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.length === 0 ? '.' : parts.join('/');
}
