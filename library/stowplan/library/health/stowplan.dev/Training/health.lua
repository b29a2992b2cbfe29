-- Health of a Training from what is reported of it. Argo CD runs this without the string and math libraries.
-- part: job_report
local holds = {}
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    if condition.status == "True" then
      holds[condition.type] = condition.message or condition.reason
    end
  end
end
local message, phase = status.message, status.phase
if message == "" then
  message = nil
end
if phase == nil or phase == "" then
  phase = (holds.Failed and "Failed") or (holds.Complete and "Succeeded") or (holds.Suspended and "Suspended")
end
if phase == "Succeeded" then
  return { status = "Healthy", message = "The job is done" }
end
if phase == "Failed" then
  return { status = "Degraded", message = message or holds.Failed or "The job failed" }
end
if holds.Stalled then
  return { status = "Degraded", message = holds.Stalled }
end
if phase == "Suspended" or holds.Suspended then
  return { status = "Suspended", message = message or holds.Suspended or "The job is suspended" }
end
local going = {
  Pending = "Pods are waiting for nodes or images",
  Waiting = "Pods are waiting for a dataset or for each other",
  Starting = "Pods are starting",
  Running = "The job is running",
  Restarting = "The job is starting again",
}
return { status = "Progressing", message = message or (phase and going[phase] or waiting) }
