/** What programs in Java are built from, by Maven or by Gradle. */
import type { ProjectFile } from '../catalog/catalog.ts';
import { makeFindings } from './findings.ts';
import type { Inferred } from './infer.ts';
import { takeGradle } from './java/gradle.ts';
import { takeMaven } from './java/maven.ts';
import { programOf } from './pulumi.ts';
import type { View } from './view.ts';

/** Inputs of a program in Java. */
export function inferJava(project: ProjectFile, view: View): Inferred {
  const findings = makeFindings(view);
  const { folder } = programOf(project, view);
  takeMaven(findings, folder);
  takeGradle(findings, folder);
  return findings.result();
}
