import * as pulumi from '@pulumi/pulumi';
import { Sign } from '../library/sign';

const config = new pulumi.Config();

new Sign('notice', config.require('folder'), ['Office hours 8 to 16', config.require('message')]);
