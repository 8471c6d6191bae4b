/** What `auth` of a repository may say. Secrets are named in it, never held. */
import * as z from 'zod';

const fileSecret = z.strictObject({ file: z.string().min(1) });
const secret = z.union(
  [
    fileSecret,
    z.strictObject({ env: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable') }),
  ],
  '{file: PATH} or {env: NAME}; a secret does not stand in this file itself',
);

/** Where a secret is: read each time it is used, so that a new value needs no restart. */
export type SecretSource = z.infer<typeof secret>;

const id = z.union([z.string().regex(/^\d+$/, 'a number'), z.number().int().positive().transform(String)]);

export const authSchema = z.strictObject({
  /** An access token of a Git server, sent as the password of `username`. */
  token: secret.optional(),
  /** With `token` by default `x-access-token`, which servers that only look at the token accept. */
  username: z.string().min(1).optional(),
  password: secret.optional(),
  /** Of ssh, in any form that ssh reads. */
  privateKey: fileSecret.optional(),
  passphrase: secret.optional(),
  /** Lines of a known_hosts file, or where it is. No key of a host is ever taken from the network. */
  knownHosts: z.union([fileSecret, z.string().min(1)], '{file: PATH}, or lines of known_hosts').optional(),
  githubApp: z
    .strictObject({
      appId: id,
      installationId: id,
      privateKey: fileSecret,
      apiUrl: z.url({ protocol: /^https?$/ }).default('https://api.github.com'),
    })
    .optional(),
  /** Lets credentials go over http:// to another machine. */
  plainHttp: z.boolean().optional(),
});

/** As configured. */
export type Auth = z.infer<typeof authSchema>;
