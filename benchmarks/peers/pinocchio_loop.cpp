// DOP853 with SciPy's error law and controller around pinocchio::aba and pinocchio::constraintDynamics: no Python in the loop.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include "dop853.hpp"

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Chain {
    pin::Model model;
    pin::Data data;
    Vector q, v, tau;
    long count = 0;
    explicit Chain(const pin::Model & m) : model(m), data(m), q(m.nq), v(m.nv), tau(Vector::Zero(m.nv)) {}
    void rate(const double * x, double * dx) {
        for (int k = 0; k < model.nv / 3; ++k) q.segment<4>(4 * k) = Eigen::Map<const Eigen::Vector4d>(x + 4 * k).normalized();
        v = Eigen::Map<const Vector>(x + model.nq, model.nv);
        Eigen::Map<Vector>(dx + model.nq, model.nv) = pin::aba(model, data, q, v, tau);
        for (int k = 0; k < model.nv / 3; ++k) {  // theta' = 1/2 theta (w, 0), scalar last
            const double *a = x + 4 * k, *b = x + model.nq + 3 * k;
            double * d = dx + 4 * k;
            d[0] = 0.5 * (a[3] * b[0] + a[1] * b[2] - a[2] * b[1]);
            d[1] = 0.5 * (a[3] * b[1] + a[2] * b[0] - a[0] * b[2]);
            d[2] = 0.5 * (a[3] * b[2] + a[0] * b[1] - a[1] * b[0]);
            d[3] = -0.5 * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        }
        ++count;
    }
};

struct Loop {  // a tree of one-dimensional joints with one closed loop
    pin::Model model;
    pin::Data data;
    std::vector<pin::RigidConstraintModel> loops;
    std::vector<pin::RigidConstraintData> states;
    pin::ProximalSettings settings{1e-14, 1e-14, 1e-10, 10};
    Vector q, v, tau;
    long count = 0;
    Loop(const pin::Model & m, const pin::RigidConstraintModel & loop)
    : model(m), data(m), loops(1, loop), q(m.nq), v(m.nv), tau(Vector::Zero(m.nv)) {
        states.push_back(loops[0].createData());
        pin::initConstraintDynamics(model, data, loops, states);
    }
    void rate(const double * x, double * dx) {
        q = Eigen::Map<const Vector>(x, model.nq);
        v = Eigen::Map<const Vector>(x + model.nq, model.nv);
        Eigen::Map<Vector>(dx, model.nv) = v;
        Eigen::Map<Vector>(dx + model.nq, model.nv) = pin::constraintDynamics(model, data, q, v, tau, loops, states, settings);
        ++count;
    }
};

extern "C" void chain(int n, double mass, double length, double across, double axial, double gravity, const double * rotation,
                      const double * spin, double t_end, double tol, const double * a, const double * c, const double * e,
                      double * x_end, long * count) {
    pin::Model model;
    model.gravity.linear() << 0, 0, -gravity;
    const pin::Inertia inertia(mass, pin::Inertia::Vector3(0, 0, -length / 2),
                               pin::Inertia::Matrix3(Eigen::Vector3d(across, across, axial).asDiagonal()));
    pin::JointIndex parent = 0;
    for (int k = 0; k < n; ++k) {
        pin::SE3 place = pin::SE3::Identity();
        if (k == 0) place.rotation() = Eigen::Map<const RowMajor3>(rotation);
        else place.translation() << 0, 0, -length;
        parent = model.addJoint(parent, pin::JointModelSpherical(), place, "joint" + std::to_string(k));
        model.appendBodyToJoint(parent, inertia, pin::SE3::Identity());
    }
    Chain system(model);
    std::vector<double> x(model.nq + model.nv, 0.0);
    for (int k = 0; k < n; ++k) x[4 * k + 3] = 1.0;
    for (int i = 0; i < 3; ++i) x[model.nq + i] = spin[i];
    dop853(system, x, t_end, tol, a, c, e);
    std::copy(x.begin(), x.end(), x_end);
    *count = system.count;
}

static pin::SE3 place(const double * rotation, const double * at) {
    return pin::SE3(Eigen::Matrix3d(Eigen::Map<const RowMajor3>(rotation)), Eigen::Vector3d(Eigen::Map<const Eigen::Vector3d>(at)));
}

static pin::Inertia solid(const double * p) {  // mass, centre (3), principal moments (3)
    return pin::Inertia(p[0], pin::Inertia::Vector3(p[1], p[2], p[3]),
                        pin::Inertia::Matrix3(Eigen::Vector3d(p[4], p[5], p[6]).asDiagonal()));
}

// solids : crank, slider, rod; points : A, C (world), B on the crank, B on the rod; returns the number of states in steps
extern "C" long slider_crank(const double * solids, const double * points, const double * rotation, const double * speeds,
                             double gravity, double gain, double t_end, double tol, const double * a, const double * c,
                             const double * e, double * steps, long room, long * count) {
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, zero[3] = {0, 0, 0};
    pin::Model model;
    model.gravity.linear() << 0, 0, -gravity;
    auto crank = model.addJoint(0, pin::JointModelRX(), place(one, points), "A");
    model.appendBodyToJoint(crank, solid(solids), pin::SE3::Identity());
    auto slider = model.addJoint(0, pin::JointModelPX(), place(one, points + 3), "D");
    model.appendBodyToJoint(slider, solid(solids + 7), pin::SE3::Identity());
    auto cross = model.addJoint(slider, pin::JointModelRX(), pin::SE3::Identity(), "C1");
    auto rod = model.addJoint(cross, pin::JointModelRX(), place(rotation, zero), "C2");
    model.appendBodyToJoint(rod, solid(solids + 14), pin::SE3::Identity());
    pin::RigidConstraintModel loop(pin::CONTACT_3D, model, crank, place(one, points + 6), rod, place(one, points + 9), pin::LOCAL);
    loop.baumgarte_corrector_parameters().Kp = gain * gain;
    loop.baumgarte_corrector_parameters().Kd = 2 * gain;
    Loop system(model, loop);
    std::vector<double> x(model.nq + model.nv, 0.0);
    for (int i = 0; i < model.nv; ++i) x[model.nq + i] = speeds[i];
    std::vector<std::vector<double>> trace(1, x);
    dop853(system, x, t_end, tol, a, c, e, &trace);
    long rows = std::min<long>(room, trace.size());
    for (long k = 0; k < rows; ++k) std::copy(trace[trace.size() - rows + k].begin(), trace[trace.size() - rows + k].end(), steps + k * x.size());
    *count = system.count;
    return rows;
}
