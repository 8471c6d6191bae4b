import * as pulumi from '@pulumi/pulumi';
import { Sign } from '../library/sign';

const config = new pulumi.Config();
const folder = config.require('folder');

for (const berth of ['north', 'south']) new Sign(`berth-${berth}`, folder, [`Berth ${berth}`, 'Keep clear']);

export const berths = 2;
