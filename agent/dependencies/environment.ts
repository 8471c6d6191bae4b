/** What an install sees of the agent's environment. Pure. */
import { join } from 'node:path';

/** Variables of the agent that installs, and only they, may see: managers' settings, proxies, certificates. */
const MACHINE_SETTING =
  /^(p?npm_config_.*|yarn_.*|pip_.*|uv_.*|corepack_npm_.*|https?_proxy|no_proxy|all_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
/** Where a manager that started this agent was at home, and what the agent decides itself: nothing to an install. */
const PLACE_SETTING =
  /^(npm_config_((local_|global_)?prefix|cache|node_gyp|user_agent|npm_version|noproxy)|pnpm_config_.*dir|yarn_(cache_folder|global_folder|ignore_path|wrap_output|rc_filename)|pip_(cache_dir|target|prefix|root|user|src|log|require_virtualenv|python)|uv_(cache_dir|project_environment|project|working_directory))$/i;

/** The part of the agent's environment that an install needs. */
export function installEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const given = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && MACHINE_SETTING.test(name) && !PLACE_SETTING.test(name)
      ? [[name, value] as const]
      : [],
  );
  const { HOME } = environment;
  return {
    ...(HOME === undefined
      ? {}
      : {
          npm_config_userconfig: join(HOME, '.npmrc'),
          PIP_CONFIG_FILE: join(HOME, '.config/pip/pip.conf'),
        }),
    ...Object.fromEntries(given),
  };
}

/** Settings whose values are secret by their name. */
const SECRET_SETTING = /(_auth|token|password|key|ident)$/i;

/** What in that part must not leave the agent: tokens, and the passwords of proxies and registries. */
export function installSecrets(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => [
    ...(SECRET_SETTING.test(name) ? [value] : []),
    ...(/:\/\/[^/@\s]*:([^/@\s]+)@/.exec(value)?.slice(1, 2) ?? []),
  ]);
}

/** Settings that say where packages come from and who asks for them, not what is installed. */
const WAY_SETTING =
  /(registry|registry_server|proxy|userconfig|cafile|ca|cert|index_url|find_links|trusted_host|config_file|timeout|retries|version_check|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/** Settings of the agent that decide what an install gives: flags, scripts that are allowed. */
export const decisiveSettings = (
  environment: Readonly<Record<string, string>>,
): (readonly [string, string])[] =>
  Object.entries(environment)
    .filter(([name]) => !SECRET_SETTING.test(name) && !WAY_SETTING.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
