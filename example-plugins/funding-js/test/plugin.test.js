import assert from 'node:assert/strict';
import test from 'node:test';

import { Host } from '../../../guest-sdk/js/testing.js';
import '../src/plugin.js';

const professor = {
  name: 'Prof. Dr. Ingrid Solheim',
  email: 'ingrid.solheim@fjell.example.org',
  interests: ['snowmelt modelling', 'medieval music'],
  summary: ['We combine field measurements with snowmelt models.'],
  publications: [{ title: 'Assimilation of satellite snow cover into a snowmelt model of small basins', year: 2026 }],
  openings: ['We have an open doctoral position.'],
};

const alignment = {
  applicant: { name: 'Mira Castellan', headline: 'MSc student in hydrology' },
  score: 50,
  overlaps: [{ interest: 'snowmelt modelling', professor_evidence: null, applicant_evidence: 'Built a snowmelt model.', strength: 100 }],
  gaps: ['medieval music'],
};
const host = new Host();

test('a letter has a greeting, an introduction and a closing', () => {
  const draft = host.run('Email.GenerateDraft', { professor, alignment, position: 'a doctoral position' });
  assert.equal(draft.to, professor.email);
  assert.match(draft.body, /^Dear Professor Solheim,\n\nmy name is Mira Castellan, an? MSc student/);
  assert.match(draft.body, /Kind regards,\nMira Castellan\n$/);
  assert.equal(host.events[0][0], 'draft-ready');
});

test('an alignment without overlaps is rejected', () => {
  const nothing = { ...alignment, overlaps: [] };
  assert.throws(() => host.run('Email.GenerateDraft', { professor, alignment: nothing }), { code: 'MISSING_REQUIRED_CONTEXT' });
});
