/** Which files say that their folder is a Pulumi project. */

const PROJECT_FILE = /(?:^|\/)Pulumi\.(?:yaml|yml|json)$/;

/** Whether a path is that of a Pulumi project file. */
export const isProjectFile = (path: string): boolean => PROJECT_FILE.test(path);
