/** What the server answers, by the names that the pages use: from its own document of the API. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Line = Schemas["ServedLineView"];
export type Recordings = Schemas["RecordingsView"];
export type Facets = Schemas["FacetsView"];
export type FacetValue = Schemas["FacetValueView"];
export type Bucket = Schemas["BucketView"];
export type Trends = Schemas["TrendsView"];
export type Whole = Schemas["ServedRecordingView"];
export type Row = Schemas["RowView"];
export type Rows = Schemas["RowsView"];
export type Message = Schemas["MessageView"];
export type ModelCall = Schemas["ModelCallView"];
export type StepWhole = Schemas["StepView"];
export type Messages = Schemas["MessagesView"];
export type Item = Schemas["ItemView"];
export type Conversation = Schemas["ConversationView"];
export type Lanes = Schemas["LanesView"];
export type Finding = Schemas["FindingView"];
export type Findings = Schemas["FindingsView"];
export type Difference = Schemas["DifferenceView"];
export type Side = Schemas["SideView"];
export type Pair = Schemas["PairView"];
export type PairStep = Schemas["PairedStepView"];
export type Diff = Schemas["DiffView"];
export type Files = Schemas["FilesView"];
export type FileChanges = Schemas["FileDifferencesView"];
export type FileChange = Schemas["FileDifferenceView"];
export type Job = Schemas["Job"];
export type SavedViews = Schemas["SavedViewList"];
export type Reproduction = Schemas["ReproductionView"];
export type Attempt = Schemas["AttemptView"];
export type Divergence = Schemas["DivergenceView"];
export type Outcome = Schemas["Outcome"];
export type Diagnosis = Schemas["DiagnosisView"];
export type Bisection = Schemas["BisectionView"];
export type Forked = Schemas["ForkedView"];
export type Me = Schemas["Me"];
export type Call = Schemas["CallView"];
