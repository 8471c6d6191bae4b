/** Which files say that their folder is a Pulumi project. */

/** Names of project files. */
export const PROJECT_FILES = ['Pulumi.yaml', 'Pulumi.yml', 'Pulumi.json'] as const;

const PROJECT_FILE = /(?:^|\/)Pulumi\.(?:yaml|yml|json)$/;

/** Whether a path is that of a Pulumi project file. */
export const isProjectFile = (path: string): boolean => PROJECT_FILE.test(path);
