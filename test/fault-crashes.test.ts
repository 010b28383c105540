import { sampleFaults } from './fault-sample.ts';
import { crash } from './long/faults/crash.ts';
import { postgres } from './long/faults/postgres.ts';

sampleFaults([crash, postgres]);
