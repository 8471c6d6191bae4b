/** The CLI's version, and the oldest one whose exit codes and events mean what this agent takes them for. */
import { execFileSync } from 'node:child_process';

/** 3.227 brought exit codes by cause; integrity errors of refresh were mended up to 3.244. */
export const OLDEST_PULUMI = '3.244.0';

const START_MS = 30_000;

/** Asks the CLI. Throws when it cannot be started. */
export function pulumiVersion(pulumi: string): string {
  const env = { PULUMI_SKIP_UPDATE_CHECK: 'true', HOME: '/nonexistent', PULUMI_HOME: '/nonexistent' };
  return execFileSync(pulumi, ['version'], { env, timeout: START_MS, encoding: 'utf8' })
    .trim()
    .replace(/^v/, '');
}

/** Whether a version is at least another one; what is not three numbers is not. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [a, b] = [version, oldest].map((text) => text.split(/[-+]/)[0]?.split('.').map(Number) ?? []);
  for (let part = 0; part < 3; part++) {
    const difference = (a?.[part] ?? Number.NaN) - (b?.[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
