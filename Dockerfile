# The command line in an image: docker build -t karpenter-azure-harness . && docker run --rm -v "$PWD:/work" karpenter-azure-harness run tests
FROM python:3.13-slim AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=wheel /wheels /wheels
COPY constraints.txt /wheels/
RUN pip install --no-cache-dir --constraint /wheels/constraints.txt "$(ls /wheels/*.whl)[clusters,completion,crds,pytest]" \
    && rm -r /wheels && useradd --create-home harness
USER harness
WORKDIR /work
ENTRYPOINT ["harness"]
