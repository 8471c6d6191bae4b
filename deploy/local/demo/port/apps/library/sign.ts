import * as pulumi from '@pulumi/pulumi';
import { mkdir, rm, writeFile } from 'fs/promises';
import { dirname } from 'path';

/** What stands above every text. */
const HEADING = '== PORT ==';

interface Inputs {
  file: string;
  lines: string[];
}

const provider: pulumi.dynamic.ResourceProvider<Inputs, Inputs> = {
  async create(inputs) {
    await mkdir(dirname(inputs.file), { recursive: true });
    await writeFile(inputs.file, inputs.lines.join('\n') + '\n');
    return { id: inputs.file, outs: inputs };
  },
  async update(_id, _olds, news) {
    await writeFile(news.file, news.lines.join('\n') + '\n');
    return { outs: news };
  },
  async delete(id) {
    await rm(id, { force: true });
  },
};

/** A sign is a file in `folder`; Pulumi makes, changes and removes it as it does with any other resource. */
export class Sign extends pulumi.dynamic.Resource {
  constructor(name: string, folder: string, lines: string[]) {
    super(provider, name, { file: `${folder}/${name}.txt`, lines: [HEADING, ...lines] });
  }
}
